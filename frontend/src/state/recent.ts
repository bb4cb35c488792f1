/** The ranges that were last shown in this browser. Not part of the link. */

import { formatCalendar, parseCalendar } from "../logic/calendar_link";
import { isSameRange, type Range } from "../logic/range";
import { formatDuration, parseDuration } from "../logic/time";
import { formatWindowText, parseWindowText } from "./url";

const KEY = "normstat-recent-ranges";
const MAX_RECENT = 8;

function format(range: Range): string {
  switch (range.kind) {
    case "live":
      return formatDuration(range.length);
    case "calendar":
      return formatCalendar(range);
    case "fixed":
      return formatWindowText(range.window);
  }
}

function parse(text: unknown): readonly Range[] {
  if (typeof text !== "string") {
    return [];
  }
  const calendar = parseCalendar(text);
  if (calendar !== null) {
    return [calendar];
  }
  const length = parseDuration(text);
  const window = length === null ? parseWindowText(text) : null;
  return length !== null ? [{ kind: "live", length }] : window === null ? [] : [{ kind: "fixed", window }];
}

/** Return the ranges, newest first; none where the browser keeps nothing. */
export function readRecent(): readonly Range[] {
  try {
    const found: unknown = JSON.parse(window.localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found) ? found.flatMap(parse).slice(0, MAX_RECENT) : [];
  } catch {
    return [];
  }
}

/** Remember a range as the newest. */
export function rememberRange(range: Range): void {
  const next = [range, ...readRecent().filter((known) => !isSameRange(known, range))].slice(0, MAX_RECENT);
  try {
    window.localStorage.setItem(KEY, JSON.stringify(next.map(format)));
  } catch {
    // A browser that keeps nothing has no recent ranges.
  }
}
