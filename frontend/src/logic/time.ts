/** Instants, durations and windows. No plain number carries time: milliseconds are branded. */

declare const instant: unique symbol;
declare const duration: unique symbol;

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = number & { readonly [instant]: true };
/** A length of time in milliseconds. */
export type DurationMs = number & { readonly [duration]: true };

/** Half-open: [start, end). */
export interface Window {
  readonly start: EpochMs;
  readonly end: EpochMs;
}

export const SECOND = 1_000 as DurationMs;
export const MINUTE = 60_000 as DurationMs;
export const HOUR = 3_600_000 as DurationMs;
export const DAY = 86_400_000 as DurationMs;

// Years that ISO 8601 writes with four digits and that every database can store.
const EARLIEST = Date.UTC(1970, 0, 1);
const LATEST = Date.UTC(9999, 11, 31);

export function toEpochMs(ms: number): EpochMs {
  return Math.round(ms) as EpochMs;
}

export function toDurationMs(ms: number): DurationMs {
  return Math.round(ms) as DurationMs;
}

/** Parse an ISO 8601 instant; return null if it is invalid or has no zone. */
export function parseIso(text: string): EpochMs | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/.test(text)) {
    return null;
  }
  const ms = Date.parse(text);
  // JavaScript takes 30 February for 2 March.
  const day = Date.parse(`${text.slice(0, 10)}T00:00:00Z`);
  if (Number.isNaN(day) || new Date(day).toISOString().slice(0, 10) !== text.slice(0, 10)) {
    return null;
  }
  return Number.isNaN(ms) || ms < EARLIEST || ms > LATEST ? null : toEpochMs(ms);
}

/** Parse an instant of an API response, which is always ISO 8601 with a zone. */
export function fromApi(text: string): EpochMs {
  return toEpochMs(Date.parse(text));
}

/** Return an instant as ISO 8601 with Z; milliseconds only if not zero. */
export function toIso(at: EpochMs): string {
  return new Date(at).toISOString().replace(".000Z", "Z");
}

const SHORT_UNITS: readonly (readonly [string, DurationMs])[] = [
  ["d", DAY],
  ["h", HOUR],
  ["m", MINUTE],
  ["s", SECOND],
];

/** Parse a duration such as `15m`, `1h30m`, `7d`, `90s` or `250ms`; return null if it is invalid or zero. */
export function parseDuration(text: string): DurationMs | null {
  if (!/^(\d+(ms|[wdhms]))+$/.test(text)) {
    return null;
  }
  const sizes: Record<string, number> = { w: 7 * DAY, d: DAY, h: HOUR, m: MINUTE, s: SECOND, ms: 1 };
  let total = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)(ms|[wdhms])/g)) {
    total += Number(count) * (sizes[unit ?? ""] ?? 0);
  }
  return total > 0 && Number.isSafeInteger(total) ? toDurationMs(total) : null;
}

/** Return a duration in the format of parseDuration: `1h30m`. */
export function formatDuration(length: DurationMs): string {
  let rest: number = length;
  let text = "";
  for (const [unit, size] of SHORT_UNITS) {
    const count = Math.floor(rest / size);
    if (count > 0) {
      text += `${String(count)}${unit}`;
      rest -= count * size;
    }
  }
  return rest > 0 || text === "" ? `${text}${String(rest)}ms` : text;
}

/** Return a duration as readable text: `1 h 30 min`, at most two units, next to each other (15 min 1 ms is `15 min`). */
export function describeDuration(length: DurationMs): string {
  const terms = ["d", "h", "m", "s", "ms"];
  const words: Record<string, string> = { m: "min" };
  const parts = [...formatDuration(length).matchAll(/(\d+)(ms|[dhms])/g)].map(([, count = "", unit = ""]) => ({ count, unit }));
  const largest = terms.indexOf(parts[0]?.unit ?? "");
  return parts
    .filter(({ unit }) => terms.indexOf(unit) <= largest + 1)
    .map(({ count, unit }) => `${count} ${words[unit] ?? unit}`)
    .join(" ");
}

/** Return an age as text: `just now`, `42 s ago`, `3 min ago`, `2 h ago`, `5 d ago`, or `in 3 s` for the future. */
export function describeAge(at: EpochMs, now: EpochMs): string {
  const age = now - at;
  if (age < -1_500) {
    return `in ${describeDuration(toDurationMs(Math.max(SECOND, Math.round(-age / SECOND) * SECOND)))}`;
  }
  if (age < 1_500) {
    return "just now";
  }
  const [, unit = SECOND] = SHORT_UNITS.find(([, size]) => age >= size) ?? [];
  return `${describeDuration(toDurationMs(Math.floor(age / unit) * unit))} ago`;
}

/** Return the instant truncated to seconds. */
export function wholeSecond(at: EpochMs): EpochMs {
  return toEpochMs(Math.floor(at / SECOND) * SECOND);
}

export function lengthOf(window: Window): DurationMs {
  return toDurationMs(window.end - window.start);
}

export function isInside(window: Window, at: EpochMs): boolean {
  return at >= window.start && at < window.end;
}

export function overlaps(a: Window, b: Window): boolean {
  return a.start < b.end && b.start < a.end;
}

export function isSameWindow(a: Window, b: Window): boolean {
  return a.start === b.start && a.end === b.end;
}

/** Return the window between two instants in any order, rounded outwards to seconds if it is long enough. */
export function windowBetween(a: EpochMs, b: EpochMs): Window {
  const [low, high] = a <= b ? [a, b] : [b, a];
  const step = high - low >= 10 * SECOND ? SECOND : 1;
  return { start: toEpochMs(Math.floor(low / step) * step), end: toEpochMs(Math.ceil(high / step) * step) };
}
