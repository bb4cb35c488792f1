/** When shifts begin where this browser is used. Not part of the link. */

import { DEFAULT_SHIFTS, formatShifts, parseShifts, type Shifts } from "../logic/calendar_range";

const KEY = "normstat-shifts";

/** Return the shifts that were set; three of eight hours where none were. */
export function readShifts(): Shifts {
  try {
    const found = parseShifts(window.localStorage.getItem(KEY) ?? "");
    return typeof found === "string" ? DEFAULT_SHIFTS : found;
  } catch {
    return DEFAULT_SHIFTS;
  }
}

/** Keep the shifts in this browser. */
export function writeShifts(shifts: Shifts): void {
  try {
    window.localStorage.setItem(KEY, formatShifts(shifts));
  } catch {
    // A browser that keeps nothing has the usual shifts.
  }
}
