/** The state of the Events page in the URL. Pure. */

import type { HostEvent } from "../logic/api";
import { EVENT_KINDS } from "../logic/event";
import { type Decoded, oneOf, type RawSearch, Reader } from "./search";
import { parseFilter } from "./url";
import { type Clock, decodeClock, encodeClock } from "./zone_choice";

/** What a list of events shows. Times are as typed: `now-7d` stays relative in a link. */
export interface EventListView {
  readonly hosts: readonly string[];
  readonly kinds: readonly HostEvent["kind"][];
  readonly tags: readonly string[];
  readonly search: string;
  readonly from: string;
  readonly to: string;
  /** 0 for the newest events. */
  readonly page: number;
}

export interface EventsView extends EventListView {
  readonly clock: Clock;
}

export const DEFAULT_EVENT_LIST: EventListView = { hosts: [], kinds: [], tags: [], search: "", from: "", to: "", page: 0 };

// The server lists no deeper.
const MAX_PAGE = 999;

function parsePage(text: string): number | null {
  return /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_PAGE ? Number(text) - 1 : null;
}

function parseName(text: string): string | null {
  return text === "" ? null : parseFilter(text);
}

export function encodeEventsView(view: EventsView): RawSearch {
  return {
    ...encodeClock(view.clock),
    ...(view.hosts.length === 0 ? {} : { host: view.hosts }),
    ...(view.kinds.length === 0 ? {} : { kind: view.kinds }),
    ...(view.tags.length === 0 ? {} : { tag: view.tags }),
    ...(view.search === "" ? {} : { find: view.search }),
    ...(view.from === "" ? {} : { from: view.from }),
    ...(view.to === "" ? {} : { to: view.to }),
    ...(view.page === 0 ? {} : { page: String(view.page + 1) }),
  };
}

export function decodeEventsView(raw: RawSearch): Decoded<EventsView> {
  const reader = new Reader(raw);
  return reader.finish({
    clock: decodeClock(reader),
    hosts: reader.all("host", parseName),
    kinds: reader.all("kind", oneOf(EVENT_KINDS)),
    tags: reader.all("tag", parseName),
    search: reader.one("find", parseFilter) ?? "",
    from: reader.one("from", parseFilter) ?? "",
    to: reader.one("to", parseFilter) ?? "",
    page: reader.one("page", parsePage) ?? 0,
  });
}
