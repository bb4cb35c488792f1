/** The times between which a list is shown, as they are typed. */

import type { EpochMs } from "./time";
import { parseInstant, type Zone } from "./zone";

export interface FilterTimes {
  readonly start: EpochMs | null;
  readonly end: EpochMs | null;
  readonly problem: string | null;
}

/** Return the typed times, and what is wrong with them; what cannot be read filters nothing. */
export function readTimes(from: string, to: string, zone: Zone, now: EpochMs): FilterTimes {
  const [start, end] = [from, to].map((text) => (text.trim() === "" ? null : parseInstant(text, zone, now)));
  const wrong = [
    { text: from, at: start },
    { text: to, at: end },
  ].find(({ text, at }) => text.trim() !== "" && at === null);
  const times = { start: start ?? null, end: end ?? null };
  if (wrong !== undefined) {
    return { ...times, problem: `“${wrong.text}” is not a time. Example: 2026-11-21 09:05, 09:05 or now-7d` };
  }
  if (times.start !== null && times.end !== null && times.end <= times.start) {
    return { ...times, end: null, problem: "The second time must be after the first" };
  }
  return { ...times, problem: null };
}
