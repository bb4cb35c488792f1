/** The state of a list of events in the URL. Pure. */

import type { HostEvent } from "../logic/api";
import { EVENT_KINDS } from "../logic/event";
import { oneOf, parsePage, type RawSearch, type Reader } from "./search";
import { parseFilter } from "./url";

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

export const DEFAULT_EVENT_LIST: EventListView = { hosts: [], kinds: [], tags: [], search: "", from: "", to: "", page: 0 };

function parseName(text: string): string | null {
  return text === "" ? null : parseFilter(text);
}

export function encodeEventList(view: EventListView): RawSearch {
  return {
    ...(view.hosts.length === 0 ? {} : { host: view.hosts }),
    ...(view.kinds.length === 0 ? {} : { kind: view.kinds }),
    ...(view.tags.length === 0 ? {} : { tag: view.tags }),
    ...(view.search === "" ? {} : { find: view.search }),
    ...(view.from === "" ? {} : { from: view.from }),
    ...(view.to === "" ? {} : { to: view.to }),
    ...(view.page === 0 ? {} : { page: String(view.page + 1) }),
  };
}

export function readEventList(reader: Reader): EventListView {
  return {
    hosts: reader.all("host", parseName),
    kinds: reader.all("kind", oneOf(EVENT_KINDS)),
    tags: reader.all("tag", parseName),
    search: reader.one("find", parseFilter) ?? "",
    from: reader.one("from", parseFilter) ?? "",
    to: reader.one("to", parseFilter) ?? "",
    page: reader.one("page", parsePage) ?? 0,
  };
}
