/** Recurring rules of baselines: as text, and as RRULE (RFC 5545) from the form. */

import { type DurationMs, describeDuration, HOUR, MINUTE, SECOND, toDurationMs } from "./time";

export const WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"] as const;
export type Weekday = (typeof WEEKDAYS)[number];

export const WEEKDAY_LABELS: Readonly<Record<Weekday, string>> = {
  MO: "Mon",
  TU: "Tue",
  WE: "Wed",
  TH: "Thu",
  FR: "Fri",
  SA: "Sat",
  SU: "Sun",
};

const WORKDAYS: readonly Weekday[] = ["MO", "TU", "WE", "TH", "FR"];

/** Return the RRULE for these days of the week. */
export function weeklyRule(days: readonly Weekday[]): string {
  const chosen = WEEKDAYS.filter((day) => days.includes(day));
  return chosen.length === WEEKDAYS.length ? "FREQ=DAILY" : `FREQ=WEEKLY;BYDAY=${chosen.join(",")}`;
}

/** Return days of the week as text, such as `Mon–Fri`. */
function describeDays(days: readonly Weekday[]): string {
  if (days.length === WORKDAYS.length && WORKDAYS.every((day) => days.includes(day))) {
    return "weekdays";
  }
  return days.map((day) => WEEKDAY_LABELS[day]).join(", ");
}

/** Return an RRULE as text; unsupported rules are returned unchanged. */
export function describeRrule(rrule: string): string {
  const parts = new Map(
    rrule
      .replace(/^RRULE:/i, "")
      .split(";")
      .filter(Boolean)
      .map((part) => {
        const [name = "", value = ""] = part.toUpperCase().split("=");
        return [name, value] as const;
      }),
  );
  const known = new Set(["FREQ", "BYDAY", "WKST"]);
  const days = (parts.get("BYDAY") ?? "").split(",").filter(Boolean);
  const isPlain =
    [...parts.keys()].every((name) => known.has(name)) && days.every((day) => WEEKDAYS.some((each) => each === day));
  if (isPlain && parts.get("FREQ") === "DAILY" && days.length === 0) {
    return "every day";
  }
  if (isPlain && days.length > 0) {
    return describeDays(WEEKDAYS.filter((day) => days.includes(day)));
  }
  return isPlain && parts.get("FREQ") === "WEEKLY" ? "every week" : rrule;
}

/** Return the time of day after a duration: `17:00` for `09:00` and 8 hours; wraps at midnight. */
function clockAfter(start: string, length: DurationMs): string {
  const [hour = 0, minute = 0] = start.split(":").map(Number);
  const total = (hour * HOUR + minute * MINUTE + length) % (24 * HOUR);
  const two = (n: number): string => String(Math.floor(n)).padStart(2, "0");
  return `${two(total / HOUR)}:${two((total % HOUR) / MINUTE)}`;
}

export interface RuleWords {
  readonly rrule: string;
  /** The time of day at which it begins, in its own zone: `09:00`. */
  readonly clock: string;
  readonly duration_s: number;
  readonly keep_days: number | null;
  readonly zone: string;
}

/** Return a rule as text: `weekdays 09:00–17:00 Europe/Berlin, keeping the last 4 weeks`. */
export function describeRule({ rrule, clock, duration_s, keep_days, zone }: RuleWords): string {
  const length = toDurationMs(duration_s * SECOND);
  const when =
    length < 24 * HOUR
      ? `${clock}–${clockAfter(clock, length)}`
      : length === 24 * HOUR && clock === "00:00"
        ? "all day"
        : `from ${clock} for ${describeDuration(length)}`;
  return `${describeRrule(rrule)} ${when} ${zone}${keep_days === null ? "" : `, keeping the last ${describeKept(keep_days)}`}`;
}

function describeKept(days: number): string {
  return days % 7 === 0 && days >= 14 ? `${String(days / 7)} weeks` : days === 1 ? "day" : `${String(days)} days`;
}

/** Return the duration between two times of day, over midnight if the end is not after the start; null if one is invalid. */
export function clockLength(from: string, to: string): DurationMs | null {
  const minutes = [from, to].map((text) => {
    const [, hour, minute] = /^(\d{1,2}):(\d\d)$/.exec(text.trim()) ?? [];
    const total = Number(hour) * 60 + Number(minute);
    return hour === undefined || Number(hour) > 24 || Number(minute) > 59 || total > 24 * 60 ? null : total;
  });
  const [start = null, end = null] = minutes;
  if (start === null || end === null) {
    return null;
  }
  return toDurationMs((end > start ? end - start : end - start + 24 * 60) * MINUTE);
}

export function isWeekday(text: string): text is Weekday {
  return WEEKDAYS.some((day) => day === text);
}

/** A rule in the form. */
export interface RuleDraft {
  readonly days: readonly Weekday[];
  readonly from: string;
  readonly to: string;
  readonly zone: string;
  readonly keepDays: number;
}

/** Return the default rule: office hours of the last four weeks. */
export function defaultRule(zone: string): RuleDraft {
  return { days: WORKDAYS, from: "09:00", to: "17:00", zone, keepDays: 28 };
}

/** Return what is wrong with a rule in the form, by its field; empty if it is complete. */
export function ruleProblems({ days, from, to, keepDays }: RuleDraft): Partial<Record<keyof RuleDraft, string>> {
  const isClock = (text: string) => clockLength(text, "00:00") !== null;
  return {
    ...(days.length === 0 ? { days: "Choose at least one day" } : {}),
    ...(isClock(from) ? {} : { from: NO_CLOCK }),
    ...(isClock(to) ? {} : { to: NO_CLOCK }),
    ...(keepDays >= 1 ? {} : { keepDays: "Enter how many days to keep" }),
  };
}

const NO_CLOCK = "Enter a time such as 09:00";

/** Return a complete rule of the form as text. */
export function describeDraft({ days, from, to, keepDays, zone }: RuleDraft): string {
  const length = clockLength(from, to) ?? 0;
  return describeRule({ rrule: weeklyRule(days), clock: from, duration_s: length / SECOND, keep_days: keepDays, zone });
}

/** Return a complete rule of the form as the API takes it. */
export function toRule({ days, from, to, keepDays }: RuleDraft): {
  readonly rrule: string;
  readonly start: string;
  readonly duration_s: number;
  readonly keep_days: number;
} {
  const length = clockLength(from, to) ?? 0;
  return { rrule: weeklyRule(days), start: from.trim().padStart(5, "0"), duration_s: length / SECOND, keep_days: keepDays };
}

/** Return a rule for the form; null if the form cannot show it. */
export function draftOfRule(
  rule: { readonly rrule: string; readonly start: string; readonly duration_s: number; readonly keep_days: number },
  zone: string,
): RuleDraft | null {
  const days = WEEKDAYS.filter((day) => new RegExp(`[=,]${day}(,|;|$)`).test(rule.rrule.toUpperCase()));
  const isDaily = describeRrule(rule.rrule) === "every day";
  const chosen = isDaily ? WEEKDAYS : days;
  const length = toDurationMs(rule.duration_s * SECOND);
  const from = rule.start.replace(/^.*T/, "").slice(0, 5);
  const isPlain = chosen.length > 0 && describeRrule(rule.rrule) === describeRrule(weeklyRule(chosen));
  return !isPlain || length > 24 * HOUR || length % MINUTE !== 0
    ? null
    : { days: chosen, from, to: clockAfter(from, length), zone, keepDays: rule.keep_days };
}
