/** Wall-clock times: instants in a time zone, correct across daylight saving changes. */

import {
  DAY,
  type DurationMs,
  type EpochMs,
  HOUR,
  MINUTE,
  parseDuration,
  parseIso,
  SECOND,
  toDurationMs,
  toEpochMs,
} from "./time";

/** An IANA name such as `Europe/Berlin`, `UTC`, or an offset from UTC such as `+05:30`. */
export type Zone = string;

/** Not a zone of the world: times are lengths since the start, which is 1970-01-01T00:00:00Z. */
export const ELAPSED: Zone = "elapsed";

const formatters = new Map<Zone, Intl.DateTimeFormat>();

function formatterOf(zone: Zone): Intl.DateTimeFormat {
  let formatter = formatters.get(zone);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
    formatters.set(zone, formatter);
  }
  return formatter;
}

/** Return the offset that a zone is named by. Missing: null for a zone with a name. */
function fixedOffset(zone: Zone): DurationMs | null {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(zone) ?? [];
  return sign === undefined ? null : toDurationMs((sign === "-" ? -1 : 1) * (Number(hours) * HOUR + Number(minutes) * MINUTE));
}

/** Return the zone's offset from UTC at an instant. */
export function offsetOf(zone: Zone, at: EpochMs): DurationMs {
  if (zone === "UTC" || zone === ELAPSED) {
    return toDurationMs(0);
  }
  const fixed = fixedOffset(zone);
  if (fixed !== null) {
    return fixed;
  }
  const parts: Record<string, number> = {};
  for (const { type, value } of formatterOf(zone).formatToParts(at)) {
    parts[type] = Number(value);
  }
  const { year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return toDurationMs(Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / SECOND) * SECOND);
}

/** Return the wall-clock time as milliseconds, as if the zone were UTC, for rounding to local hours and days. */
export function toWall(zone: Zone, at: EpochMs): number {
  return at + offsetOf(zone, at);
}

/** Return the instant of a wall-clock time: the first one if it occurs twice, the instant just after the gap if it is skipped. */
export function fromWall(zone: Zone, wall: number): EpochMs {
  // The offset is the one before or after a change; a day on either side gives both.
  const before = offsetOf(zone, toEpochMs(wall - 24 * HOUR));
  const after = offsetOf(zone, toEpochMs(wall + 24 * HOUR));
  for (const offset of [before, after]) {
    const at = toEpochMs(wall - offset);
    if (offsetOf(zone, at) === offset) {
      return at;
    }
  }
  return toEpochMs(wall - before);
}

/** `2026-11-21` */
export function formatDate(zone: Zone, at: EpochMs): string {
  return new Date(toWall(zone, at)).toISOString().slice(0, 10);
}

/** Return a time of day: `09:05:00`, with milliseconds if not zero. */
export function formatClock(zone: Zone, at: EpochMs): string {
  return new Date(toWall(zone, at)).toISOString().slice(11, -1).replace(".000", "");
}

/** Return date and time, `2026-11-21 09:05:00`; the caller shows the zone. */
export function formatInstant(zone: Zone, at: EpochMs): string {
  return `${formatDate(zone, at)} ${formatClock(zone, at)}`;
}

/** Return a window as text, with the date only once if both ends are on one day. */
export function formatWindow(zone: Zone, window: { readonly start: EpochMs; readonly end: EpochMs }): string {
  const isOneDay = formatDate(zone, window.start) === formatDate(zone, window.end);
  const end = isOneDay ? formatClock(zone, window.end) : formatInstant(zone, window.end);
  return `${formatInstant(zone, window.start)} – ${end}`;
}

/** Return the zone's offset as text: `UTC` or `UTC+13:45`. */
export function zoneLabel(zone: Zone, at: EpochMs): string {
  const offset = offsetOf(zone, at);
  if (zone === "UTC" || offset === 0) {
    return "UTC";
  }
  const minutes = Math.abs(offset) / MINUTE;
  const two = (n: number): string => String(Math.floor(n)).padStart(2, "0");
  return `UTC${offset < 0 ? "−" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}

/** Return the start of a local day, by default of the one that `at` is in. */
export function dayStart(zone: Zone, at: EpochMs, daysBack = 0): EpochMs {
  return fromWall(zone, Math.floor(toWall(zone, at) / DAY) * DAY - daysBack * DAY);
}

/** Parse seconds or milliseconds since 1970, as logs and scripts print them; return null for other numbers. */
export function parseEpoch(text: string): EpochMs | null {
  if (/^\d{9,10}(\.\d{1,9})?$/.test(text)) {
    return toEpochMs(Number(text) * SECOND);
  }
  return /^\d{12,13}$/.test(text) ? toEpochMs(Number(text)) : null;
}

/**
 * Parse a typed instant: `2026-11-21 09:05:00`, `2026-11-21`, `09:05` (today), `yesterday 09:05`, `now`, `now-15m`, ISO 8601 with a
 * zone, or seconds since 1970; return null if it is none of these.
 */
export function parseInstant(text: string, zone: Zone, now: EpochMs): EpochMs | null {
  const trimmed = text.trim();
  if (trimmed === "now") {
    return now;
  }
  const relative = /^now\s*([+-])\s*(\w+)$/.exec(trimmed);
  if (relative) {
    const length = parseDuration(relative[2] ?? "");
    return length === null ? null : toEpochMs(relative[1] === "-" ? now - length : now + length);
  }
  const local = /^(?:(today|yesterday|\d{4}-\d\d-\d\d)(?:[ T]+|$))?(\d{1,2}:\d\d(?::\d\d(?:\.\d{1,3})?)?)?$/i.exec(trimmed);
  if (local === null || trimmed === "") {
    return parseEpoch(trimmed) ?? parseIso(trimmed);
  }
  const [, day = "today", clock = "00:00"] = local;
  const wall = parseIso(`${dateOf(day.toLowerCase(), zone, now)}T${/^\d:/.test(clock) ? "0" : ""}${clock}Z`);
  return wall === null ? null : fromWall(zone, wall);
}

function dateOf(day: string, zone: Zone, now: EpochMs): string {
  return day === "today" || day === "yesterday" ? formatDate(zone, dayStart(zone, now, day === "today" ? 0 : 1)) : day;
}
