/** Ranges that people type: what they mean, or what was not understood and an example. */

import { CALENDAR_NAMES, calendarLabel, DEFAULT_SHIFTS, type Shifts } from "./calendar_range";
import { aroundInstant, MAX_LENGTH, MIN_LENGTH, type Range } from "./range";
import {
  DAY,
  type DurationMs,
  type EpochMs,
  HOUR,
  MINUTE,
  parseDuration,
  parseIso,
  SECOND,
  toEpochMs,
  type Window,
} from "./time";
import { dayStart, fromWall, parseEpoch, parseInstant, toWall, type Zone } from "./zone";

const EXAMPLES = "now-3h, yesterday 06:59-07:10, or 2026-11-22 06:59 +10m";

/** What the page knows while the user types. */
interface Typing {
  readonly zone: Zone;
  readonly now: EpochMs;
}

/** One end of a range, as typed: an instant, or a day, a time of day, or both. */
interface Moment {
  readonly at: EpochMs | null;
  /** The start of the day on the wall clock. */
  readonly day: number | null;
  /** Milliseconds after midnight. */
  readonly clock: number | null;
}

/**
 * Parse a typed range: `3h` or `now-3h` (live), `today`, `last week`, `this shift` (by the calendar), `yesterday 9-11`, `06:59` (half an hour around it),
 * `2026-11-22 06:59 +10m`, seconds since 1970, or two instants with `to`, `/` or `-` between them. Hours without a day are the last ones
 * that have begun. Return an error message if it is none of these.
 */
export function parseRange(text: string, zone: Zone, now: EpochMs, shifts: Shifts = DEFAULT_SHIFTS): Range | string {
  const typed = text
    .trim()
    .replaceAll(/\s+/g, " ")
    .replaceAll(/now ?- ?(?=\d)/gi, "now-");
  const typing = { zone, now };
  const moving = parseLive(typed.toLowerCase()) ?? parseNamed(typed.toLowerCase(), shifts);
  if (moving !== null) {
    return moving;
  }
  const window = parseLengthened(typed, typing) ?? parseSides(typed, typing) ?? parseAlone(typed, typing);
  if (typeof window === "string") {
    return `${window}. Examples: ${EXAMPLES}`;
  }
  return checkLength(window) ?? { kind: "fixed", window };
}

function checkLength(window: Window): string | null {
  if (window.end - window.start < MIN_LENGTH) {
    return "The range must begin at least one second before it ends. Example: now-2h to now-1h";
  }
  return window.end - window.start > MAX_LENGTH ? "The range must be 1 s to 10 years long" : null;
}

/** Return a length with its units as one letter: `3 hours` as `3h`. */
function shortLength(text: string): string {
  return text
    .replaceAll(
      /(\d) ?(weeks?|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?)\b/g,
      (_, digit: string, unit: string) => digit + unit.charAt(0),
    )
    .replaceAll(" ", "");
}

/** Parse the last hours until now. Missing: null for other text. */
function parseLive(typed: string): Range | string | null {
  const [whole, before = "", length = ""] =
    /^((?:the )?last |now ?- ?)?(\d[\d\sa-z]*?|hour|minute|day)(?: to now| ?\/ ?now)?$/.exec(typed) ?? [];
  const found = parseDuration(/^\d/.test(length) ? shortLength(length) : `1${length.charAt(0)}`);
  if (whole === undefined || (found === null && !before.startsWith("now")) || (before === "" && /^[a-z]/.test(length))) {
    return null;
  }
  if (found === null) {
    return `“${length}” is not a length of time. Examples: now-3h, now-15m, now-1h30m`;
  }
  return found >= MIN_LENGTH && found <= MAX_LENGTH ? { kind: "live", length: found } : "The range must be 1 s to 10 years long";
}

/** Return the range of that name, in English or the language of the page: `yesterday`, `this shift`. */
function parseNamed(typed: string, shifts: Shifts): Range | null {
  const text = typed.replace(/^previous /, "last ");
  const name = CALENDAR_NAMES.find((each) => each.replace("-", " ") === text || calendarLabel(each).toLowerCase() === text);
  return name === undefined ? null : { kind: "calendar", name, shifts };
}

const SEPARATOR = / (?:to|until|-) | ?[–/] ?/;
const LENGTHENED = /^(?<moment>.+?)(?: ?(?<sign>\+-|±|\+)| (?<minus>-)) ?(?<length>\d+ ?[a-z][\da-z ]*)$/i;

/** Parse `2026-11-22 06:59 +10m`, `06:59 -10m` and `06:59 +-5m`. Missing: null for other text. */
function parseLengthened(typed: string, typing: Typing): Window | string | null {
  const { moment, sign = "-", length } = LENGTHENED.exec(typed)?.groups ?? {};
  const by = length === undefined ? null : parseDuration(shortLength(length.toLowerCase()));
  if (moment === undefined || by === null || SEPARATOR.test(moment)) {
    return null;
  }
  const at = instantOf(moment, typing);
  return typeof at === "string"
    ? at
    : { start: toEpochMs(Math.max(0, sign === "+" ? at : at - by)), end: toEpochMs(sign === "-" ? at : at + by) };
}

/** Return the instant of a moment alone; a time of day without a day is the last one that has begun. */
function instantOf(text: string, typing: Typing): EpochMs | string {
  const moment = readMoment(text, typing);
  return typeof moment === "string" ? moment : beginningOf(moment, typing);
}

function beginningOf({ at, day, clock }: Moment, { zone, now }: Typing): EpochMs {
  if (at !== null) {
    return at;
  }
  const today = toWall(zone, dayStart(zone, now));
  const first = fromWall(zone, (day ?? today) + (clock ?? 0));
  return day === null && first > now ? fromWall(zone, today - DAY + (clock ?? 0)) : first;
}

/** Parse a whole day, or half an hour around an instant. */
function parseAlone(typed: string, typing: Typing): Window | string {
  const moment = readMoment(typed, typing);
  if (typeof moment === "string") {
    return moment;
  }
  const start = beginningOf(moment, typing);
  return moment.at === null && moment.clock === null ? wholeDay(start, typing) : aroundInstant(start);
}

/** Return a day; of today, there is nothing after now. */
function wholeDay(start: EpochMs, { zone, now }: Typing): Window {
  const end = dayStart(zone, start, -1);
  return { start, end: start < now ? toEpochMs(Math.min(end, now)) : end };
}

const DAY_AND_CLOCK = String.raw`(?:(?:today|yesterday|\d{4}-\d\d-\d\d)[ t]+)?\d{1,2}(?::\d\d(?::\d\d(?:\.\d+)?)?)?`;
const HYPHEN = new RegExp(`^(${DAY_AND_CLOCK}) ?- ?(.+)$`, "i");

/** Return the two ends as typed. Missing: null for a text with one end. */
function splitSides(typed: string): readonly [string, string] | null {
  if (parseIso(typed) !== null) {
    return null;
  }
  const [from, to, ...more] = typed.split(SEPARATOR);
  if (from !== undefined && to !== undefined && more.length === 0) {
    return [from, to];
  }
  const [, before, after] = HYPHEN.exec(typed) ?? [];
  return before === undefined || after === undefined ? null : [before, after];
}

/** Parse two ends; hours that end before they begin end on the next day. Missing: null for a text with one end. */
function parseSides(typed: string, typing: Typing): Window | string | null {
  const sides = splitSides(typed);
  if (sides === null) {
    return null;
  }
  const [from, to] = [readMoment(sides[0], typing), readMoment(sides[1], typing)];
  if (typeof from === "string") {
    return from;
  }
  if (typeof to === "string") {
    return to;
  }
  const { zone } = typing;
  if (to.at === null && to.day === null && from.clock !== null && to.clock !== null) {
    return hoursOf(from.day, from.clock, to.clock, typing);
  }
  const start = beginningOf(from, typing);
  if (to.at === null && to.day !== null && to.clock === null) {
    // A day is meant as a whole.
    return { start, end: wholeDay(fromWall(zone, to.day), typing).end };
  }
  const startDay = toWall(zone, dayStart(zone, start));
  const end = to.at ?? fromWall(zone, (to.day ?? startDay) + (to.clock ?? 0));
  const isNextDay = to.at === null && to.day === null && end <= start;
  return { start, end: isNextDay ? fromWall(zone, startDay + DAY + (to.clock ?? 0)) : end };
}

/** Return some hours of a day; without a day, the last ones that have begun: at 09:00, 22-6 is last night. */
function hoursOf(day: number | null, from: number, to: number, { zone, now }: Typing): Window {
  const midnight = day ?? toWall(zone, dayStart(zone, now));
  const length = to > from ? to - from : to - from + DAY;
  const isToCome =
    day === null && (fromWall(zone, midnight + from) > now || (to <= from && fromWall(zone, midnight + to + DAY) > now));
  const first = midnight + from - (isToCome ? DAY : 0);
  return { start: fromWall(zone, first), end: fromWall(zone, first + length) };
}

const MOMENT = /^(?:(today|yesterday|\d{4}-\d{1,2}-\d{1,2})(?:[ t]+|$))?(\d{1,2}(?::\d{1,2}(?::\d{1,2}(?:\.\d{1,3})?)?)?)?$/i;

/** Read one end of a range; return what was not understood. */
function readMoment(text: string, { zone, now }: Typing): Moment | string {
  const typed = text.trim();
  const [, day, clock] = MOMENT.exec(typed) ?? [];
  // A number alone is no moment: of nine digits or more it is one since 1970.
  if (day === undefined && clock === undefined) {
    const lower = typed.toLowerCase();
    const at = parseEpoch(typed) ?? parseInstant(lower.startsWith("now") ? shortLength(lower) : typed.toUpperCase(), zone, now);
    return at === null ? describeUnread(typed) : { at, day: null, clock: null };
  }
  const midnight = day === undefined ? null : parseInstant(day, zone, now);
  const ms = clock === undefined ? null : clockOf(clock);
  if (day !== undefined && midnight === null) {
    return `“${day}” is not a date`;
  }
  if (clock !== undefined && ms === null) {
    return `“${clock}” is not a time of day`;
  }
  return { at: null, day: midnight === null ? null : toWall(zone, midnight), clock: ms };
}

function describeUnread(typed: string): string {
  if (typed === "") {
    return "An end of the range is missing";
  }
  const [, length] = /^now ?[+-] ?(.*)$/i.exec(typed) ?? [];
  return length === undefined ? `“${typed}” is not a time` : `“${length}” is not a length of time`;
}

/** Return milliseconds after midnight. Missing: null for a time that no day has. */
function clockOf(text: string): DurationMs | null {
  const [hour = "", minute = "0", second = "0"] = text.split(":");
  const ms = Number(hour) * HOUR + Number(minute) * MINUTE + Number(second) * SECOND;
  return Number(minute) < 60 && Number(second) < 60 && ms <= DAY ? (ms as DurationMs) : null;
}
