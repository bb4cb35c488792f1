/** The state of the page of incidents in the URL. Pure. */

import { DEFAULT_EVENT_LIST, encodeEventList, type EventListView, readEventList } from "./events";
import { type Decoded, oneOf, parsePage, type RawSearch, Reader } from "./search";
import { parseFilter } from "./url";
import { type Clock, decodeClock, encodeClock } from "./zone_choice";

/** What the list shows: everything, or one kind. */
export const INCIDENT_KINDS = ["all", "unusual", "alert", "comparison", "event", "report", "pattern"] as const;
export type ShownKind = (typeof INCIDENT_KINDS)[number];

export interface IncidentsView {
  readonly clock: Clock;
  readonly show: ShownKind;
  /** "" for all. */
  readonly host: string;
  /** Only what this rule found; "" for all. */
  readonly rule: string;
  /** 0 for the newest. */
  readonly page: number;
  /** The filters of the events, where these are shown alone. */
  readonly events: EventListView;
}

export const DEFAULT_INCIDENTS_VIEW: IncidentsView = {
  clock: "local",
  show: "all",
  host: "",
  rule: "",
  page: 0,
  events: DEFAULT_EVENT_LIST,
};

export function encodeIncidentsView({ clock, show, host, rule, page, events }: IncidentsView): RawSearch {
  return {
    ...encodeClock(clock),
    ...(show === "all" ? {} : { show }),
    ...(show === "event"
      ? encodeEventList(events)
      : {
          ...(host === "" ? {} : { host }),
          ...(rule === "" ? {} : { rule }),
          ...(page === 0 ? {} : { page: String(page + 1) }),
        }),
  };
}

export function decodeIncidentsView(raw: RawSearch): Decoded<IncidentsView> {
  const reader = new Reader(raw);
  const clock = decodeClock(reader);
  const show = reader.one("show", oneOf(INCIDENT_KINDS)) ?? "all";
  const view = { ...DEFAULT_INCIDENTS_VIEW, clock, show };
  return reader.finish(
    show === "event"
      ? { ...view, events: readEventList(reader) }
      : {
          ...view,
          host: reader.one("host", parseFilter) ?? "",
          rule: reader.one("rule", parseFilter) ?? "",
          page: reader.one("page", parsePage) ?? 0,
        },
  );
}
