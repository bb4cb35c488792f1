import { describe, expect, it } from "vitest";
import { clockLength, describeRrule, describeRule, weeklyRule } from "./rule";
import { HOUR, MINUTE } from "./time";

describe("a recurring rule", () => {
  it("is built from days, and described in words", () => {
    expect(weeklyRule(["FR", "MO", "TU", "WE", "TH"])).toBe("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR");
    expect(describeRrule("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR")).toBe("weekdays");
    expect(describeRrule(weeklyRule(["SU", "SA"]))).toBe("Sat, Sun");
    expect(describeRrule(weeklyRule(["MO", "TU", "WE", "TH", "FR", "SA", "SU"]))).toBe("every day");
    expect(describeRrule("RRULE:FREQ=WEEKLY")).toBe("every week");
  });

  it("that cannot be described in words is shown as written", () => {
    for (const rrule of ["FREQ=MONTHLY;BYMONTHDAY=1", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO", "FREQ=MONTHLY;BYDAY=1MO"]) {
      expect(describeRrule(rrule)).toBe(rrule);
    }
  });

  it("has hours, a zone and a retention", () => {
    const rule = {
      rrule: "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
      clock: "09:00",
      duration_s: 8 * 3600,
      keep_days: 28,
      zone: "Europe/Berlin",
    };
    expect(describeRule(rule)).toBe("weekdays 09:00–17:00 Europe/Berlin, keeping the last 4 weeks");
    expect(describeRule({ ...rule, clock: "22:30", keep_days: null })).toBe("weekdays 22:30–06:30 Europe/Berlin");
    expect(describeRule({ ...rule, clock: "00:00", duration_s: 86_400, keep_days: 10 })).toBe(
      "weekdays all day Europe/Berlin, keeping the last 10 days",
    );
  });

  it("may cross midnight", () => {
    expect(clockLength("09:00", "17:00")).toBe(8 * HOUR);
    expect(clockLength("22:30", "6:00")).toBe(7.5 * HOUR);
    expect(clockLength("00:00", "24:00")).toBe(24 * HOUR);
    expect(clockLength("09:00", "09:00")).toBe(24 * HOUR);
    expect(clockLength("09:15", "09:16")).toBe(MINUTE);
    for (const wrong of ["9", "25:00", "09:60", "", "24:30"]) {
      expect(clockLength(wrong, "10:00")).toBeNull();
    }
  });
});
