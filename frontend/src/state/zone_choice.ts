/** Which zone a link shows its times in: `tz=utc`, `tz=host`, or nothing for the zone of the browser. Pure. */

import { oneOf, type RawSearch, type Reader } from "./search";

export const CLOCKS = ["local", "utc", "host"] as const;
export type Clock = (typeof CLOCKS)[number];

const parseClock = oneOf(CLOCKS);

/** Return the clock that a link names; one that names none, or an unknown one, shows local time. */
export function clockOf(raw: RawSearch): Clock {
  const text = raw["tz"];
  return typeof text === "string" ? (parseClock(text) ?? "local") : "local";
}

export function encodeClock(clock: Clock): RawSearch {
  return clock === "local" ? {} : { tz: clock };
}

export function decodeClock(reader: Reader): Clock {
  return reader.one("tz", parseClock) ?? "local";
}

/** Return the same link with another clock. */
export function withClock({ tz: _, ...rest }: RawSearch, clock: Clock): RawSearch {
  return { ...rest, ...encodeClock(clock) };
}

/** What the zone of a page is the zone of: some hosts, or all where nothing is named. */
export interface ZoneSubject {
  readonly hosts: readonly string[];
  readonly group: string | null;
  readonly tag: string | null;
}

function listOf(value: RawSearch[string]): readonly string[] {
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}

/** Return the hosts that a page is about, from its path, the host in it, and its parameters. */
export function zoneSubjectOf(pathname: string, host: string | undefined, raw: RawSearch): ZoneSubject {
  const [, page] = pathname.split("/");
  if (host !== undefined) {
    return { hosts: [host], group: null, tag: null };
  }
  if (page === "graph") {
    const named = listOf(raw["hosts"]).flatMap((text) =>
      text.split(",").map((name) => name.replaceAll("%2C", ",").replaceAll("%25", "%")),
    );
    const runs = listOf(raw["run"]).map((text) => text.slice(0, Math.max(0, text.lastIndexOf("@"))));
    const [group = null] = listOf(raw["group"]);
    const [tag = null] = listOf(raw["tag"]);
    return { hosts: unique([...named, ...runs]), group, tag };
  }
  return { hosts: page === "comparison" || page === "incidents" ? unique(listOf(raw["host"])) : [], group: null, tag: null };
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name) => name !== ""))];
}
