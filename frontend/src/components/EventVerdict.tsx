import type { HostEvent } from "../logic/api";
import { describeVerdict } from "../logic/event";
import "./EventLayer.css";

/** Whether the host got better or worse after a change. */
export function EventVerdict({ event }: { readonly event: HostEvent }) {
  const { verdict } = event;
  return verdict == null ? null : (
    <div className="event-verdict" data-verdict={verdict.verdict}>
      <b>{describeVerdict(verdict.verdict)}</b> {verdict.sentence}
    </div>
  );
}
