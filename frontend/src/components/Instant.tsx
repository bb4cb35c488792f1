import { Tooltip } from "@mantine/core";
import { describeAge, type EpochMs, toIso, wholeSecond } from "../logic/time";
import { formatInstant, type Zone, zoneLabel } from "../logic/zone";

interface InstantProps {
  readonly at: EpochMs;
  readonly zone: Zone;
}

/** An instant in the chosen time zone, to the second; the tooltip adds the zone and UTC. */
export function Instant({ at, zone }: InstantProps) {
  return (
    <Tooltip label={`${formatInstant(zone, at)} ${zoneLabel(zone, at)} (${toIso(at)})`}>
      <time dateTime={toIso(at)} style={{ whiteSpace: "nowrap" }}>
        {formatInstant(zone, wholeSecond(at))}
      </time>
    </Tooltip>
  );
}

/** The age of an instant. */
export function Age({ at, now, zone }: InstantProps & { readonly now: EpochMs }) {
  return (
    <Tooltip label={`${formatInstant(zone, at)} ${zoneLabel(zone, at)}`}>
      <time dateTime={toIso(at)} style={{ whiteSpace: "nowrap" }}>
        {describeAge(at, now)}
      </time>
    </Tooltip>
  );
}
