/** Ranges by the calendar as text, for links: `today`, `last-shift`, `last-shift,07:00,19:00`. */

import { CALENDAR_NAMES, DEFAULT_SHIFTS, formatShifts, isOfShifts, parseShifts } from "./calendar_range";
import type { Range } from "./range";

type CalendarRange = Extract<Range, { kind: "calendar" }>;

/** Return a range as text, with the times of its shifts where they are not the usual ones: a link shows the same everywhere. */
export function formatCalendar({ name, shifts }: CalendarRange): string {
  const times = formatShifts(shifts);
  return isOfShifts(name) && times !== formatShifts(DEFAULT_SHIFTS) ? `${name},${times.replaceAll(" ", ",")}` : name;
}

/** Parse the text of a range. Missing: null for another text. */
export function parseCalendar(text: string): CalendarRange | null {
  const [first, ...times] = text.split(",");
  const name = CALENDAR_NAMES.find((each) => each === first);
  if (name === undefined || (times.length > 0 && !isOfShifts(name))) {
    return null;
  }
  const shifts = times.length === 0 ? DEFAULT_SHIFTS : parseShifts(times.join(" "));
  return typeof shifts === "string" ? null : { kind: "calendar", name, shifts };
}
