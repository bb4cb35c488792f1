/** The range of a host page: live (follows the clock) or fixed. */

import { DAY, type DurationMs, type EpochMs, HOUR, lengthOf, MINUTE, SECOND, toDurationMs, toEpochMs, type Window } from "./time";

export type Range = { readonly kind: "live"; readonly length: DurationMs } | { readonly kind: "fixed"; readonly window: Window };

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
