/** The range of a host page: live (follows the clock) or fixed. */

import {
  DAY,
  type DurationMs,
  type EpochMs,
  HOUR,
  lengthOf,
  MINUTE,
  parseDuration,
  SECOND,
  toDurationMs,
  toEpochMs,
  type Window,
} from "./time";
import { fromWall, parseInstant, toWall, type Zone } from "./zone";

export type Range = { readonly kind: "live"; readonly length: DurationMs } | { readonly kind: "fixed"; readonly window: Window };

export function isSameRange(a: Range, b: Range): boolean {
  return a.kind === "live"
    ? b.kind === "live" && a.length === b.length
    : b.kind === "fixed" && a.window.start === b.window.start && a.window.end === b.window.end;
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

/** Return the window of a range at the instant `now`. */
export function resolveRange(range: Range, now: EpochMs): Window {
  return range.kind === "fixed" ? range.window : { start: toEpochMs(now - range.length), end: now };
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

/** Return the end of a live window: now (or the time of the last event), or the newest sample if the host's clock is ahead. */
export function liveEnd(now: EpochMs, heard: { readonly newest: EpochMs | null; readonly at: EpochMs | null } | null): EpochMs {
  const end = Math.max(now, heard?.at ?? 0, (heard?.newest ?? -1) + 1);
  return toEpochMs(Math.ceil(end / LIVE_GRID) * LIVE_GRID);
}

/** Return the fixed window, in whole seconds, that a live range shows: the one that is saved in a link. */
function settled(range: Range, now: EpochMs): Window {
  return resolveRange(range, toEpochMs(Math.ceil(now / SECOND) * SECOND));
}

/** Return a fixed range, moved by a share of its length (-0.5 = half a window back). */
export function shiftRange(range: Range, now: EpochMs, share: number): Range {
  const window = settled(range, now);
  const by = Math.round((lengthOf(window) * share) / SECOND) * SECOND;
  return { kind: "fixed", window: { start: toEpochMs(window.start + by), end: toEpochMs(window.end + by) } };
}

/** Return the range scaled by `factor` around its middle (live: with the same end). */
export function zoomRange(range: Range, now: EpochMs, factor: number): Range {
  const window = resolveRange(range, now);
  const length = Math.min(MAX_LENGTH, Math.max(5 * SECOND, lengthOf(window) * factor));
  if (range.kind === "live") {
    return { kind: "live", length: toDurationMs(Math.round(length / SECOND) * SECOND) };
  }
  const middle = (window.start + window.end) / 2;
  const start = Math.max(0, Math.floor((middle - length / 2) / SECOND) * SECOND);
  return { kind: "fixed", window: { start: toEpochMs(start), end: toEpochMs(start + Math.ceil(length / SECOND) * SECOND) } };
}

/** Return a live range as the fixed window that it shows, and a fixed range as a live one of the same length. */
export function toggleLive(range: Range, now: EpochMs): Range {
  return range.kind === "live"
    ? { kind: "fixed", window: settled(range, now) }
    : { kind: "live", length: toDurationMs(Math.min(7 * DAY, lengthOf(range.window))) };
}

/** Return the last window of this length that includes `at`, in whole seconds. */
export function windowEndingAt(at: EpochMs, length: DurationMs): Window {
  const end = Math.floor(at / SECOND) * SECOND + SECOND;
  return { start: toEpochMs(Math.max(0, end - length)), end: toEpochMs(end) };
}

/**
 * Return the window that a host opens on if its samples ended before the last minutes: all of them if they span at most a day,
 * otherwise the last hour. Returns null for a host that still has samples, or has none.
 */
export function openingWindow(first: EpochMs | null, last: EpochMs | null, now: EpochMs): Window | null {
  if (first === null || last === null || DEFAULT_RANGE.kind !== "live" || last >= now - DEFAULT_RANGE.length) {
    return null;
  }
  const length = last - first <= DAY ? Math.max(MINUTE, last - first + SECOND) : HOUR;
  return windowEndingAt(last, toDurationMs(length));
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
    return `${start === null ? "From" : "To"} is not a valid time; write 2026-11-21 09:05:00, 09:05 or now-15m`;
  }
  if (end - start < MIN_LENGTH) {
    return "From must be at least one second before To";
  }
  return end - start > MAX_LENGTH ? "The window is longer than ten years" : { start, end };
}

/** The hours at which shifts begin: three of eight hours. */
const SHIFT_HOURS = [22, 14, 6] as const;
const SHIFT_LENGTH = 8 * HOUR;

/** Return the start of the local day, so many days back. */
function dayStart(zone: Zone, now: EpochMs, daysBack: number): EpochMs {
  const wall = toWall(zone, now);
  return fromWall(zone, Math.floor(wall / DAY) * DAY - daysBack * DAY);
}

function shiftStart(zone: Zone, now: EpochMs): number {
  const wall = toWall(zone, now);
  const today = Math.floor(wall / DAY) * DAY;
  const hour = SHIFT_HOURS.find((first) => wall >= today + first * HOUR);
  return hour === undefined ? today - 2 * HOUR : today + hour * HOUR;
}

/** A range by the calendar of a zone. */
export interface NamedRange {
  readonly label: string;
  readonly window: Window;
}

/** Return today, yesterday and the shifts in a zone; those that have not ended reach to now. */
export function calendarRanges(zone: Zone, now: EpochMs): readonly NamedRange[] {
  const shift = shiftStart(zone, now);
  const hours = (wall: number): string => new Date(wall).toISOString().slice(11, 16);
  const until = (end: EpochMs): EpochMs => toEpochMs(Math.max(Math.min(end, now), 0));
  const named = (label: string, start: EpochMs, end: EpochMs): NamedRange => ({ label, window: { start, end: until(end) } });
  const shiftNamed = (label: string, wall: number): NamedRange =>
    named(
      `${label} (${hours(wall)} to ${hours(wall + SHIFT_LENGTH)})`,
      fromWall(zone, wall),
      fromWall(zone, wall + SHIFT_LENGTH),
    );
  return [
    named("Today", dayStart(zone, now, 0), dayStart(zone, now, -1)),
    named("Yesterday", dayStart(zone, now, 1), dayStart(zone, now, 0)),
    shiftNamed("This shift", shift),
    shiftNamed("Last shift", shift - SHIFT_LENGTH),
  ].filter(({ window }) => lengthOf(window) >= MIN_LENGTH);
}

const RANGE_HELP = "write now-3h, today, yesterday 9-11, 09:05 to 09:20, or 2026-11-21 9-11";

/**
 * Parse a typed range: `3h` or `now-3h` (live), `today`, `yesterday`, `yesterday 9-11`, `9-11`, `2026-11-21 9:30-11`, or two
 * instants with `to` between them. Return an error message if it is none of these.
 */
export function parseRange(text: string, zone: Zone, now: EpochMs): Range | string {
  const typed = text
    .trim()
    .toLowerCase()
    .replaceAll(/\s+/g, " ")
    .replace(/^(the )?last /, "");
  const [, length] = /^(?:now ?- ?)?([\d\swdhms]+?)(?: to now)?$/.exec(typed) ?? [];
  const live = length === undefined ? null : parseDuration(length.replaceAll(" ", ""));
  if (live !== null) {
    return live >= MIN_LENGTH && live <= MAX_LENGTH ? { kind: "live", length: live } : "The range must be 1 s to 10 years long";
  }
  const window = parseDay(typed, zone, now) ?? parseBetween(text.trim(), zone, now);
  if (window === null) {
    return `Not a range: ${RANGE_HELP}`;
  }
  const problem = requireWindow(window.start, window.end);
  return typeof problem === "string" ? problem : { kind: "fixed", window };
}

const CLOCK = String.raw`(\d{1,2})(?::(\d\d))?`;
const DAY_AND_HOURS = new RegExp(String.raw`^(today|yesterday|\d{4}-\d\d-\d\d)?(?: ?${CLOCK} ?(?:-|–|to) ?${CLOCK})?$`);

/** Return a day, or some hours of it; hours that end before they begin end on the next day. Missing: null for other text. */
function parseDay(typed: string, zone: Zone, now: EpochMs): Window | null {
  const [whole, day, fromHour, fromMinute = "0", toHour, toMinute = "0"] = DAY_AND_HOURS.exec(typed) ?? [];
  if (whole === undefined || whole === "") {
    return null;
  }
  const start =
    day === undefined || day === "today"
      ? dayStart(zone, now, 0)
      : day === "yesterday"
        ? dayStart(zone, now, 1)
        : parseInstant(day, zone, now);
  if (start === null) {
    return null;
  }
  const midnight = toWall(zone, start);
  if (fromHour === undefined || toHour === undefined) {
    const end = fromWall(zone, midnight + DAY);
    return { start, end: toEpochMs(start < now ? Math.min(end, now) : end) };
  }
  const [from, to] = [wallOf(fromHour, fromMinute), wallOf(toHour, toMinute)];
  if (from === null || to === null) {
    return null;
  }
  const length = to > from ? to - from : to - from + DAY;
  // Hours without a day are the last ones that have begun: at 09:00, 22-6 is last night.
  const isToCome =
    day === undefined && (fromWall(zone, midnight + from) > now || (to <= from && fromWall(zone, midnight + to + DAY) > now));
  const first = midnight + from - (isToCome ? DAY : 0);
  return { start: fromWall(zone, first), end: fromWall(zone, first + length) };
}

/** Return milliseconds after midnight. Missing: null for a time that no day has. */
function wallOf(hour: string, minute: string): number | null {
  const ms = Number(hour) * HOUR + Number(minute) * MINUTE;
  return Number(minute) < 60 && ms <= DAY ? ms : null;
}

function parseBetween(text: string, zone: Zone, now: EpochMs): Window | null {
  const [from, to, ...more] = text.split(/\s+(?:to|–|until)\s+|\//);
  if (from === undefined || to === undefined || more.length > 0) {
    return null;
  }
  const [start, end] = [parseInstant(from, zone, now), parseInstant(to, zone, now)];
  return start === null || end === null ? null : { start, end };
}
