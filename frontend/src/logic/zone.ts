/** Wall clocks: instants as people in a time zone read them, right across changes to and from summer time. */

import { type DurationMs, type EpochMs, HOUR, MINUTE, parseDuration, parseIso, SECOND, toDurationMs, toEpochMs } from "./time";

/** An IANA name such as `Europe/Berlin`, or `UTC`. */
export type Zone = string;

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

/** How far the zone's clock is ahead of UTC at an instant. */
export function offsetOf(zone: Zone, at: EpochMs): DurationMs {
  if (zone === "UTC") {
    return toDurationMs(0);
  }
  const parts: Record<string, number> = {};
  for (const { type, value } of formatterOf(zone).formatToParts(at)) {
    parts[type] = Number(value);
  }
  const { year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return toDurationMs(Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / SECOND) * SECOND);
}

/** The wall clock as milliseconds, as if the zone were UTC: what floors to whole local hours and days. */
export function toWall(zone: Zone, at: EpochMs): number {
  return at + offsetOf(zone, at);
}

/** The instant at which the zone's clock shows this. In an hour that comes twice: the first; in one that is skipped: just after. */
export function fromWall(zone: Zone, wall: number): EpochMs {
  // The zone's offset is that before the change or that after it; a day on either side asks for both.
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

/** `09:05:00`, with milliseconds where there are any. */
export function formatClock(zone: Zone, at: EpochMs): string {
  return new Date(toWall(zone, at)).toISOString().slice(11, -1).replace(".000", "");
}

/** `2026-11-21 09:05:00`; what says which zone must stand beside it. */
export function formatInstant(zone: Zone, at: EpochMs): string {
  return `${formatDate(zone, at)} ${formatClock(zone, at)}`;
}

/** `09:05:00 – 09:20:00` with the date once where both are on one day. */
export function formatWindow(zone: Zone, window: { readonly start: EpochMs; readonly end: EpochMs }): string {
  const isOneDay = formatDate(zone, window.start) === formatDate(zone, window.end);
  const end = isOneDay ? formatClock(zone, window.end) : formatInstant(zone, window.end);
  return `${formatInstant(zone, window.start)} – ${end}`;
}

/** `UTC` or `UTC+13:45`. */
export function zoneLabel(zone: Zone, at: EpochMs): string {
  const offset = offsetOf(zone, at);
  if (zone === "UTC" || offset === 0) {
    return "UTC";
  }
  const minutes = Math.abs(offset) / MINUTE;
  const two = (n: number): string => String(Math.floor(n)).padStart(2, "0");
  return `UTC${offset < 0 ? "−" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}

/**
 * The instant that a person typed: `2026-11-21 09:05:00`, `2026-11-21`, `09:05` (today), `now`, `now-15m`, or ISO 8601 with a zone.
 * Missing: null where it is none of these.
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
  const local = /^(?:(\d{4}-\d\d-\d\d)(?:[ T]+|$))?(\d{1,2}:\d\d(?::\d\d(?:\.\d{1,3})?)?)?$/.exec(trimmed);
  if (local === null || trimmed === "") {
    return parseIso(trimmed);
  }
  const [, date = formatDate(zone, now), clock = "00:00"] = local;
  const wall = parseIso(`${date}T${/^\d:/.test(clock) ? "0" : ""}${clock}Z`);
  return wall === null ? null : fromWall(zone, wall);
}
