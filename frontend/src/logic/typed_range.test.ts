import { describe, expect, it } from "vitest";
import { calendarRanges, daysOf, daysWindow, formatShifts, parseShifts, type Shifts } from "./calendar_range";
import { HOUR, MINUTE, SECOND, toEpochMs, toIso, type Window } from "./time";
import { parseRange } from "./typed_range";

const at = (text: string) => toEpochMs(Date.parse(text));
const shown = ({ start, end }: Window): string => `${toIso(start)}/${toIso(end)}`;

describe("ranges that people type", () => {
  // A Monday in summer, 09:30 in Berlin.
  const now = at("2026-07-20T07:30:00Z");
  const typed = (text: string): string => {
    const found = parseRange(text, "Europe/Berlin", now);
    if (typeof found === "string") {
      return found;
    }
    if (found.kind === "calendar") {
      return found.name;
    }
    return found.kind === "live" ? `live ${String(found.length)}` : shown(found.window);
  };

  it.each([
    ["now-3h", `live ${String(3 * HOUR)}`],
    ["3h", `live ${String(3 * HOUR)}`],
    ["Last 1h30m", `live ${String(1.5 * HOUR)}`],
    ["last 90 minutes", `live ${String(1.5 * HOUR)}`],
    ["last hour", `live ${String(HOUR)}`],
    ["1 day 2 hours", `live ${String(26 * HOUR)}`],
    ["now-15m to now", `live ${String(15 * MINUTE)}`],
    ["now-3h/now", `live ${String(3 * HOUR)}`],
    ["today", "today"],
    ["yesterday", "yesterday"],
    ["2026-07-01", "2026-06-30T22:00:00Z/2026-07-01T22:00:00Z"],
    ["2026-07-20", "2026-07-19T22:00:00Z/2026-07-20T07:30:00Z"],
    ["This hour", "this-hour"],
    ["last week", "last-week"],
    ["previous shift", "last-shift"],
    ["yesterday 9-11", "2026-07-19T07:00:00Z/2026-07-19T09:00:00Z"],
    ["yesterday 06:59-07:10", "2026-07-19T04:59:00Z/2026-07-19T05:10:00Z"],
    ["yesterday 06:59:30 - 07:10:15", "2026-07-19T04:59:30Z/2026-07-19T05:10:15Z"],
    ["yesterday 22:30-1", "2026-07-19T20:30:00Z/2026-07-19T23:00:00Z"],
    ["22-6", "2026-07-19T20:00:00Z/2026-07-20T04:00:00Z"],
    ["14-15", "2026-07-19T12:00:00Z/2026-07-19T13:00:00Z"],
    ["9-9:20", "2026-07-20T07:00:00Z/2026-07-20T07:20:00Z"],
    ["2026-07-01 9-11", "2026-07-01T07:00:00Z/2026-07-01T09:00:00Z"],
    ["09:05 to 09:20", "2026-07-20T07:05:00Z/2026-07-20T07:20:00Z"],
    ["09:05–09:20", "2026-07-20T07:05:00Z/2026-07-20T07:20:00Z"],
    ["9:15 to now", "2026-07-20T07:15:00Z/2026-07-20T07:30:00Z"],
    ["2026-07-01 23:00 to 01:00", "2026-07-01T21:00:00Z/2026-07-01T23:00:00Z"],
    ["2026-07-01 23:00 / 2026-07-03 01:00", "2026-07-01T21:00:00Z/2026-07-02T23:00:00Z"],
    ["2026-07-01 to 2026-07-03", "2026-06-30T22:00:00Z/2026-07-03T22:00:00Z"],
    ["yesterday to today", "2026-07-18T22:00:00Z/2026-07-20T07:30:00Z"],
    ["now-2h to now-1h", "2026-07-20T05:30:00Z/2026-07-20T06:30:00Z"],
    ["now-3h/now-1h", "2026-07-20T04:30:00Z/2026-07-20T06:30:00Z"],
    ["now - 3 hours / now - 1 hour", "2026-07-20T04:30:00Z/2026-07-20T06:30:00Z"],
    ["06:59", "2026-07-20T04:44:00Z/2026-07-20T05:14:00Z"],
    // Not yet today, so it was yesterday.
    ["16:59", "2026-07-19T14:44:00Z/2026-07-19T15:14:00Z"],
    ["yesterday 06:59", "2026-07-19T04:44:00Z/2026-07-19T05:14:00Z"],
    ["2026-07-01 06:59 +10m", "2026-07-01T04:59:00Z/2026-07-01T05:09:00Z"],
    ["06:59 -10m", "2026-07-20T04:49:00Z/2026-07-20T04:59:00Z"],
    ["06:59 +-5 min", "2026-07-20T04:54:00Z/2026-07-20T05:04:00Z"],
    ["now-3h +10m", "2026-07-20T04:30:00Z/2026-07-20T04:40:00Z"],
    ["1784523540", "2026-07-20T04:44:00Z/2026-07-20T05:14:00Z"],
    ["1784523540000", "2026-07-20T04:44:00Z/2026-07-20T05:14:00Z"],
    ["1784523540 +10m", "2026-07-20T04:59:00Z/2026-07-20T05:09:00Z"],
    ["1784523540 to 1784524140.5", "2026-07-20T04:59:00Z/2026-07-20T05:09:00.500Z"],
    ["2026-07-20T04:59:00Z/2026-07-20T05:09:00Z", "2026-07-20T04:59:00Z/2026-07-20T05:09:00Z"],
    ["2026-07-20T06:59:00-05:00", "2026-07-20T11:44:00Z/2026-07-20T12:14:00Z"],
  ])("%s", (text, expected) => {
    expect(typed(text)).toBe(expected);
  });

  it.each([
    ["soon", "“soon” is not a time"],
    ["yesterday 25-26", "“25” is not a time of day"],
    ["9:75-10", "“9:75” is not a time of day"],
    ["2026-02-30", "“2026-02-30” is not a date"],
    ["2026-02-30 06:59 +10m", "“2026-02-30” is not a date"],
    ["now-3x", "“3x” is not a length of time"],
    ["now-3h to now-1y", "“1y” is not a length of time"],
    ["09:00 to ", "“09:00 to” is not a time"],
    ["09:00 to later", "“later” is not a time"],
    ["20260722", "“20260722” is not a time"],
    ["now-1h to now-2h", "must begin at least one second before it ends"],
    ["0s", "“0s” is not a time"],
    ["now-99999d", "must be 1 s to 10 years long"],
  ])("%j is answered with what was not understood and an example", (text, problem) => {
    expect(typed(text)).toContain(problem);
    expect(typed(text)).toMatch(/Example|must be/);
  });

  it("follow the clock changes of the zone", () => {
    const berlin = (text: string): string => {
      const found = parseRange(text, "Europe/Berlin", at("2026-10-26T12:00:00Z"));
      return typeof found !== "string" && found.kind === "fixed" ? shown(found.window) : "no window";
    };
    expect(berlin("yesterday 0-24")).toBe("2026-10-24T22:00:00Z/2026-10-25T23:00:00Z");
    expect(berlin("2026-10-25 1-4")).toBe("2026-10-24T23:00:00Z/2026-10-25T03:00:00Z");
  });
});

describe("ranges by the calendar", () => {
  const names = (iso: string, shifts?: Shifts) =>
    calendarRanges("Europe/Berlin", at(iso), shifts).map(({ label, window }) => `${label} ${shown(window)}`);

  it("end now at the latest, across midnight too", () => {
    expect(names("2026-07-22T07:30:00Z")).toEqual([
      "Today 2026-07-21T22:00:00Z/2026-07-22T07:30:00Z",
      "Yesterday 2026-07-20T22:00:00Z/2026-07-21T22:00:00Z",
      "This hour 2026-07-22T07:00:00Z/2026-07-22T07:30:00Z",
      "This shift (06:00 to 14:00) 2026-07-22T04:00:00Z/2026-07-22T07:30:00Z",
      "Last shift (22:00 to 06:00) 2026-07-21T20:00:00Z/2026-07-22T04:00:00Z",
      "This week 2026-07-19T22:00:00Z/2026-07-22T07:30:00Z",
      "Last week 2026-07-12T22:00:00Z/2026-07-19T22:00:00Z",
    ]);
    // At 03:00 the shift began yesterday, which was still last week.
    expect(names("2026-07-20T01:00:00Z")).toContain("This shift (22:00 to 06:00) 2026-07-19T20:00:00Z/2026-07-20T01:00:00Z");
    expect(names("2026-07-20T01:00:00Z")).toContain("This week 2026-07-19T22:00:00Z/2026-07-20T01:00:00Z");
  });

  it("have the shifts that were set, one of them too", () => {
    const shifts = [7 * HOUR, 19 * HOUR];
    expect(names("2026-07-22T07:30:00Z", shifts)[3]).toContain("This shift (07:00 to 19:00) 2026-07-22T05:00:00Z");
    expect(names("2026-07-22T07:30:00Z", [7 * HOUR])[4]).toContain("Last shift (07:00 to 07:00) 2026-07-21T05:00:00Z");
    // The night of a clock change is an hour longer; its shifts begin at their times all the same.
    expect(names("2026-10-25T04:00:00Z")).toContain("This shift (22:00 to 06:00) 2026-10-24T20:00:00Z/2026-10-25T04:00:00Z");
  });

  it("reads the times at which shifts begin", () => {
    expect(parseShifts("22:00, 6 14:00 6:00")).toEqual([6 * HOUR, 14 * HOUR, 22 * HOUR]);
    expect(formatShifts([6 * HOUR, 14.5 * HOUR])).toBe("06:00 14:30");
    expect(parseShifts("6 25:00")).toBe("“25:00” is not a time of day. Example: 06:00 14:00 22:00");
    expect(parseShifts("24:00")).toContain("not a time of day");
    expect(parseShifts(" ")).toContain("Write 1 to 6 times");
    expect(parseShifts("1 2 3 4 5 6 7")).toContain("Write 1 to 6 times");
  });

  it("take whole days from a calendar, in any order, and give them back", () => {
    const now = at("2026-07-22T07:30:00Z");
    const days = daysWindow("Europe/Berlin", "2026-07-21", "2026-07-20", now);
    expect(days && shown(days)).toBe("2026-07-19T22:00:00Z/2026-07-21T22:00:00Z");
    expect(days && daysOf("Europe/Berlin", days)).toEqual(["2026-07-20", "2026-07-21"]);
    const today = daysWindow("Europe/Berlin", "2026-07-22", "2026-07-22", now);
    expect(today && shown(today)).toBe("2026-07-21T22:00:00Z/2026-07-22T07:30:00Z");
    expect(daysWindow("Europe/Berlin", "soon", "2026-07-22", now)).toBeNull();
    expect(daysOf("UTC", { start: now, end: toEpochMs(now + SECOND) })).toEqual(["2026-07-22", "2026-07-22"]);
  });
});
