/** Ranges by the calendar and by the shifts of a zone. */

import type { EpochMs, Window } from "./time";
import { DAY, HOUR, MINUTE, SECOND, toEpochMs } from "./time";
import { dayStart, formatDate, fromWall, toWall, type Zone } from "./zone";

/** When shifts begin: milliseconds after midnight, in order. Each lasts until the next one. */
export type Shifts = readonly number[];

/** Three shifts of eight hours. */
export const DEFAULT_SHIFTS: Shifts = [6 * HOUR, 14 * HOUR, 22 * HOUR];
export const MAX_SHIFTS = 6;

/** Parse the times at which shifts begin: `06:00 14:00 22:00`; return an error message for anything else. */
export function parseShifts(text: string): Shifts | string {
  const terms = text.split(/[\s,;]+/).filter(Boolean);
  if (terms.length === 0 || terms.length > MAX_SHIFTS) {
    return `Write 1 to ${String(MAX_SHIFTS)} times, such as 06:00 14:00 22:00`;
  }
  const starts = terms.map(parseStart);
  const wrong = terms[starts.indexOf(null)];
  if (wrong !== undefined) {
    return `“${wrong}” is not a time of day. Example: 06:00 14:00 22:00`;
  }
  return [...new Set(starts.filter((start) => start !== null))].sort((a, b) => a - b);
}

function parseStart(text: string): number | null {
  const [whole, hour, minute = "0"] = /^(\d{1,2})(?::(\d\d))?$/.exec(text) ?? [];
  const start = Number(hour) * HOUR + Number(minute) * MINUTE;
  return whole === undefined || Number(minute) > 59 || start >= DAY ? null : start;
}

/** Return shifts in the format of parseShifts. */
export function formatShifts(shifts: Shifts): string {
  return shifts.map((start) => new Date(start).toISOString().slice(11, 16)).join(" ");
}

export const CALENDAR_NAMES = ["today", "yesterday", "this-hour", "this-shift", "last-shift", "this-week", "last-week"] as const;
/** What a range by the calendar is called, in links too. */
export type CalendarName = (typeof CALENDAR_NAMES)[number];

/** A range by the calendar of a zone. */
export interface NamedRange {
  readonly name: CalendarName;
  readonly label: string;
  readonly window: Window;
}

/** The shift that `at` is in, and the one before it. */
function shiftsAt(zone: Zone, at: EpochMs, shifts: Shifts): readonly [Window, Window] {
  const today = Math.floor(toWall(zone, at) / DAY) * DAY;
  const borders = [-2, -1, 0, 1].flatMap((day) => shifts.map((start) => fromWall(zone, today + day * DAY + start)));
  const next = borders.findIndex((border) => border > at);
  const [before, start, end] = [borders[next - 2], borders[next - 1], borders[next]].map((border) => border ?? at);
  return [
    { start: start ?? at, end: end ?? at },
    { start: before ?? at, end: start ?? at },
  ];
}

/** Return the start of the week, which begins on Monday. */
function weekStart(zone: Zone, at: EpochMs, weeksBack: number): EpochMs {
  // 1970-01-01 was a Thursday.
  const day = Math.floor(toWall(zone, at) / DAY);
  return dayStart(zone, at, ((day + 3) % 7) + 7 * weeksBack);
}

const CALENDAR_LABELS: Readonly<Record<CalendarName, string>> = {
  today: "Today",
  yesterday: "Yesterday",
  "this-hour": "This hour",
  "this-shift": "This shift",
  "last-shift": "Last shift",
  "this-week": "This week",
  "last-week": "Last week",
};

/** Return the name in the language of the page. */
export function calendarLabel(name: CalendarName): string {
  return CALENDAR_LABELS[name];
}

/** Return whether the range is one of shifts. */
export function isOfShifts(name: CalendarName): boolean {
  return name === "this-shift" || name === "last-shift";
}

/** Return the whole of a day, hour, shift or week, with the part that is still to come. */
function wholeWindow(name: CalendarName, zone: Zone, now: EpochMs, shifts: Shifts): Window {
  const hour = toEpochMs(now - (toWall(zone, now) % HOUR));
  switch (name) {
    case "today":
      return { start: dayStart(zone, now), end: dayStart(zone, now, -1) };
    case "yesterday":
      return { start: dayStart(zone, now, 1), end: dayStart(zone, now) };
    case "this-hour":
      return { start: hour, end: toEpochMs(hour + HOUR) };
    case "this-shift":
      return shiftsAt(zone, now, shifts)[0];
    case "last-shift":
      return shiftsAt(zone, now, shifts)[1];
    case "this-week":
      return { start: weekStart(zone, now, 0), end: weekStart(zone, now, -1) };
    case "last-week":
      return { start: weekStart(zone, now, 1), end: weekStart(zone, now, 0) };
  }
}

/** Return a range by the calendar at an instant: until now where it has not ended, and at least a second. */
export function calendarWindow(name: CalendarName, zone: Zone, now: EpochMs, shifts: Shifts): Window {
  const { start, end } = wholeWindow(name, zone, now, shifts);
  return { start, end: toEpochMs(Math.max(Math.min(end, now), start + SECOND)) };
}

/** Return days, the hour, shifts and weeks of a zone; those that have not ended reach to now. */
export function calendarRanges(zone: Zone, now: EpochMs, shifts: Shifts = DEFAULT_SHIFTS): readonly NamedRange[] {
  const clock = (at: EpochMs): string => new Date(toWall(zone, at)).toISOString().slice(11, 16);
  return CALENDAR_NAMES.map((name) => {
    const whole = wholeWindow(name, zone, now, shifts);
    const label = isOfShifts(name)
      ? `${calendarLabel(name)} (${clock(whole.start)} to ${clock(whole.end)})`
      : calendarLabel(name);
    return { name, label, window: calendarWindow(name, zone, now, shifts) };
  });
}

/** Return the window of whole local days, both included; days are written as 2026-11-21. Missing: null for other text. */
export function daysWindow(zone: Zone, first: string, last: string, now: EpochMs): Window | null {
  const [start, end] = [first, last].map((day) => Date.parse(`${day}T00:00:00Z`));
  if (start === undefined || end === undefined || Number.isNaN(start) || Number.isNaN(end)) {
    return null;
  }
  const from = fromWall(zone, Math.min(start, end));
  const to = fromWall(zone, Math.max(start, end) + DAY);
  // Of today, there is nothing after now.
  return { start: from, end: from < now ? toEpochMs(Math.min(to, now)) : to };
}

/** Return the local days that a window touches, as 2026-11-21. */
export function daysOf(zone: Zone, window: Window): readonly [string, string] {
  return [formatDate(zone, window.start), formatDate(zone, toEpochMs(Math.max(window.start, window.end - 1)))];
}
