/** What the graph of several hosts shows when its address names none. Pure. */

import type { HostInfo } from "./api";
import { DEFAULT_RANGE, isSameRange, type Range } from "./range";
import { fromApi, MINUTE, toEpochMs } from "./time";

/** More lines than these are told apart by no one; the others are a choice away. */
const MAX_FIRST = 8;
const FIRST_LENGTH = 15 * MINUTE;

export interface FirstGraph {
  readonly hosts: readonly string[];
  readonly range: Range;
}

/**
 * Return the hosts that send now, those with the newest samples first; without one, the host that was recorded last, at the end of
 * its samples, unless the address has a range of its own. Missing: null, where no host has samples.
 */
export function firstGraph(hosts: readonly HostInfo[], range: Range): FirstGraph | null {
  const dated = hosts
    .flatMap(({ name, state, last_sample_at }) =>
      last_sample_at === null ? [] : [{ name, state, end: fromApi(last_sample_at) }],
    )
    .sort((a, b) => b.end - a.end || a.name.localeCompare(b.name));
  const live = dated.filter(({ state }) => state === "live");
  if (live.length > 0) {
    return { hosts: live.slice(0, MAX_FIRST).map(({ name }) => name), range };
  }
  const [last] = dated;
  if (last === undefined) {
    return null;
  }
  const window = { start: toEpochMs(last.end - FIRST_LENGTH), end: toEpochMs(last.end + 1) };
  return { hosts: [last.name], range: isSameRange(range, DEFAULT_RANGE) ? { kind: "fixed", window } : range };
}
