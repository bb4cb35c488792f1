/** The range of a page: live (the last hours), by the calendar (today, last shift), which move on with the clock, or fixed. */

import { DAY, type DurationMs, type EpochMs, HOUR, lengthOf, MINUTE, SECOND, toDurationMs, toEpochMs, type Window } from "./time";
import { type CalendarName, calendarWindow, isOfShifts, type Shifts } from "./calendar_range";
import type { Zone } from "./zone";

export type Range =
  | { readonly kind: "live"; readonly length: DurationMs }
  | { readonly kind: "calendar"; readonly name: CalendarName; readonly shifts: Shifts }
  | { readonly kind: "fixed"; readonly window: Window };

export function isSameRange(a: Range, b: Range): boolean {
  switch (a.kind) {
    case "live":
      return b.kind === "live" && a.length === b.length;
    case "calendar":
      return b.kind === "calendar" && a.name === b.name && (!isOfShifts(a.name) || a.shifts.join() === b.shifts.join());
    case "fixed":
      return b.kind === "fixed" && a.window.start === b.window.start && a.window.end === b.window.end;
  }
}

const GROWING: ReadonlySet<CalendarName> = new Set(["today", "this-hour", "this-shift", "this-week"]);

/** Return whether new samples belong to the range: not to yesterday, and not to a fixed range. */
export function isGrowing(range: Range): boolean {
  return range.kind === "live" || (range.kind === "calendar" && GROWING.has(range.name));
}

const CALENDAR_LENGTHS: Readonly<Record<CalendarName, DurationMs>> = {
  today: DAY,
  yesterday: DAY,
  "this-hour": HOUR,
  "this-shift": toDurationMs(8 * HOUR),
  "last-shift": toDurationMs(8 * HOUR),
  "this-week": toDurationMs(7 * DAY),
  "last-week": toDurationMs(7 * DAY),
};

/** Return about how long the range is, whatever time it is. */
export function usualLength(range: Range): DurationMs {
  return range.kind === "live" ? range.length : range.kind === "fixed" ? lengthOf(range.window) : CALENDAR_LENGTHS[range.name];
}

export const PRESETS: readonly DurationMs[] = [
  toDurationMs(5 * MINUTE),
  toDurationMs(15 * MINUTE),
  toDurationMs(30 * MINUTE),
  HOUR,
  toDurationMs(3 * HOUR),
  toDurationMs(6 * HOUR),
  toDurationMs(12 * HOUR),
  DAY,
  toDurationMs(2 * DAY),
  toDurationMs(7 * DAY),
];

export const DEFAULT_RANGE: Range = { kind: "live", length: toDurationMs(15 * MINUTE) };
export const MIN_LENGTH = SECOND;
export const MAX_LENGTH = toDurationMs(10 * 366 * DAY);

/** Return the window of a range at the instant `now`, by the calendar of the zone. */
export function resolveRange(range: Range, now: EpochMs, zone: Zone): Window {
  switch (range.kind) {
    case "live":
      return { start: toEpochMs(now - range.length), end: now };
    case "calendar":
      return calendarWindow(range.name, zone, now, range.shifts);
    case "fixed":
      return range.window;
  }
}

/** Return how often a live window moves on: by about a pixel, or seldom while the server announces new samples. */
export function livePeriod(length: DurationMs, isTold: boolean): DurationMs {
  return toDurationMs(Math.min(60 * SECOND, Math.max((isTold ? 10 : 3) * SECOND, length / 300)));
}

/**
 * Return the minimum time between two moves of a live window: up to an hour, a new point shows at once;
 * in a week it would be a hundredth of a pixel.
 */
export function liveStep(length: DurationMs): DurationMs {
  return toDurationMs(Math.min(60 * SECOND, Math.max(SECOND / 2, length / 3600)));
}

// Finer than the polling period, so that samples announced within the same second are included.
const LIVE_GRID = 100;

// A clock in a wrong time zone is hours ahead. Rows that are dated further ahead are not where the host is now.
const MAX_AHEAD = DAY;

/** Return the end of a live window: now (or the time of the last event), or the newest sample if the host's clock is ahead. */
export function liveEnd(now: EpochMs, heard: { readonly newest: EpochMs | null; readonly at: EpochMs | null } | null): EpochMs {
  const here = Math.max(now, heard?.at ?? 0);
  const newest = (heard?.newest ?? -1) + 1;
  const end = newest > here + MAX_AHEAD ? here : Math.max(here, newest);
  return toEpochMs(Math.ceil(end / LIVE_GRID) * LIVE_GRID);
}

/** Return the window, in whole seconds, that a moving range shows: the one that is saved in a link. */
function settled(range: Range, now: EpochMs, zone: Zone): Window {
  return resolveRange(range, toEpochMs(Math.ceil(now / SECOND) * SECOND), zone);
}

/** Return the range as the fixed window that it shows. */
export function freezeRange(range: Range, now: EpochMs, zone: Zone): Range {
  return range.kind === "fixed" ? range : { kind: "fixed", window: settled(range, now, zone) };
}

/** Return a fixed range, moved by a share of its length (-0.5 = half a window back). */
export function shiftRange(range: Range, now: EpochMs, share: number, zone: Zone): Range {
  const window = settled(range, now, zone);
  const by = Math.round((lengthOf(window) * share) / SECOND) * SECOND;
  return { kind: "fixed", window: { start: toEpochMs(window.start + by), end: toEpochMs(window.end + by) } };
}

/** Return the range scaled by `factor` around its middle (live: with the same end). */
export function zoomRange(range: Range, now: EpochMs, factor: number, zone: Zone): Range {
  const window = resolveRange(range, now, zone);
  const length = Math.min(MAX_LENGTH, Math.max(5 * SECOND, lengthOf(window) * factor));
  if (range.kind === "live") {
    return { kind: "live", length: toDurationMs(Math.round(length / SECOND) * SECOND) };
  }
  const middle = (window.start + window.end) / 2;
  const start = Math.max(0, Math.floor((middle - length / 2) / SECOND) * SECOND);
  return { kind: "fixed", window: { start: toEpochMs(start), end: toEpochMs(start + Math.ceil(length / SECOND) * SECOND) } };
}

/** Return a range that grows as the fixed window that it shows, and any other as a live one of the same length. */
export function toggleLive(range: Range, now: EpochMs, zone: Zone): Range {
  return isGrowing(range)
    ? freezeRange(range, now, zone)
    : { kind: "live", length: toDurationMs(Math.min(7 * DAY, lengthOf(resolveRange(range, now, zone)))) };
}

/** Return the last window of this length that includes `at`, in whole seconds. */
export function windowEndingAt(at: EpochMs, length: DurationMs): Window {
  const end = Math.floor(at / SECOND) * SECOND + SECOND;
  return { start: toEpochMs(Math.max(0, end - length)), end: toEpochMs(end) };
}

/** Live lengths for a host that has just begun to send: fifteen minutes would be an empty graph. */
const FIRST_LENGTHS = [2 * MINUTE, 5 * MINUTE];
/** The part of a graph that samples fill at least. */
const FILLED = 0.75;

/** The shortest window of a host whose samples ended: a single report is drawn in it, too. */
const MIN_OPENED = 5 * SECOND;

/**
 * Return the range that a host opens on. If its samples ended before the last minutes, or are a few minutes that were imported: all
 * of them if they span at most a day, otherwise the last hour. If they began a moment ago: a short live one. Null: the usual one.
 */
export function openingRange(first: EpochMs | null, last: EpochMs | null, now: EpochMs, isLive: boolean): Range | null {
  if (first === null || last === null || DEFAULT_RANGE.kind !== "live") {
    return null;
  }
  const since = now - DEFAULT_RANGE.length;
  if (last >= since && (isLive || first < since)) {
    const length = FIRST_LENGTHS.find((each) => now - first <= FILLED * each);
    return length === undefined ? null : { kind: "live", length: toDurationMs(length) };
  }
  const length = last - first <= DAY ? Math.max(MIN_OPENED, last - first + SECOND) : HOUR;
  return { kind: "fixed", window: windowEndingAt(last, toDurationMs(length)) };
}

/** Return a slightly wider window, to show an event in context. */
export function surroundings(window: Window, share = 0.5): Window {
  const by = Math.max(10 * SECOND, lengthOf(window) * share);
  return { start: toEpochMs(Math.max(0, window.start - by)), end: toEpochMs(window.end + by) };
}

/** Return a quarter of an hour on both sides of an instant, in whole seconds. */
export function aroundInstant(at: EpochMs): Window {
  const middle = Math.floor(at / SECOND) * SECOND;
  return { start: toEpochMs(Math.max(0, middle - 15 * MINUTE)), end: toEpochMs(middle + 15 * MINUTE) };
}

/** Return windows that are often a good baseline for this one, with their labels. */
export function suggestedBaselines(incident: Window): readonly { readonly label: string; readonly window: Window }[] {
  const length = lengthOf(incident);
  const back = (by: number): Window => ({ start: toEpochMs(incident.start - by), end: toEpochMs(incident.end - by) });
  return [
    { label: "just before", window: back(length) },
    { label: "hour before", window: { start: toEpochMs(incident.start - HOUR), end: incident.start } },
    { label: "day before, same time", window: back(DAY) },
    { label: "week before, same time", window: back(7 * DAY) },
  ];
}

/** Return the window between two typed instants, or an error message. */
export function requireWindow(start: EpochMs | null, end: EpochMs | null): Window | string {
  if (start === null || end === null) {
    return `${start === null ? "From" : "To"} is not a valid time; write 2026-11-21 09:05:00, 09:05, yesterday 09:05 or now-15m`;
  }
  if (end - start < MIN_LENGTH) {
    return "From must be at least one second before To";
  }
  return end - start > MAX_LENGTH ? "The window is longer than ten years" : { start, end };
}
