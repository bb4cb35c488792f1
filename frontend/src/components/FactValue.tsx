import { factMoment } from "../logic/fact";
import type { Zone } from "../logic/zone";
import { Instant } from "./Instant";

interface FactValueProps {
  readonly factKey: string;
  readonly value: string | null;
  readonly text: string | null;
  readonly zone: Zone;
}

/** The value of a host fact; the time of a boot as an instant. */
export function FactValue({ factKey, value, text, zone }: FactValueProps) {
  if (value === null) {
    return <span className="soft">none</span>;
  }
  const moment = factMoment(factKey, value);
  return moment === null ? text : <Instant at={moment} zone={zone} />;
}
