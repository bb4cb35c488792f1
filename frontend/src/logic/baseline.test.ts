import { describe, expect, it } from "vitest";
import {
  describeBaselineRule,
  describeProfile,
  formatWindows,
  isInProgress,
  isSameNames,
  parseWindows,
  profilePercent,
  recordingLeft,
  abbreviateNames,
  versionOptions,
  worstHealth,
} from "./baseline";
import type { HostHealth } from "./api";
import { formatShare } from "./number";
import { defaultRule, draftOfRule, ruleProblems, toRule } from "./rule";
import { parseIso } from "./time";

const NOW = parseIso("2026-11-21T12:00:00Z")!;

describe("a baseline", () => {
  it("that is being recorded shows the remaining time", () => {
    expect(recordingLeft({ recording_until: "2026-11-21T12:00:01.5Z" }, NOW)).toBe(2000);
    expect(recordingLeft({ recording_until: "2026-11-21T11:59:59Z" }, NOW)).toBeNull();
    expect(recordingLeft({ recording_until: null }, NOW)).toBeNull();
  });

  it("is polled often while it changes by itself", () => {
    const profile = (state: "queued" | "running" | "done" | "failed") => ({ state, n_done: 1, n_total: 4, message: "no room" });
    const isMoving = (state: "queued" | "running" | "done" | "failed") =>
      isInProgress({ recording_until: null, profile: profile(state) }, NOW);
    expect((["queued", "running", "done", "failed"] as const).map(isMoving)).toEqual([true, true, false, false]);
    expect(isInProgress({ recording_until: "2026-11-21T13:00:00Z", profile: null }, NOW)).toBe(true);
    expect(describeProfile(profile("running"))).toBe("profile: 1 of 4");
    expect(describeProfile(profile("failed"))).toBe("profile failed: no room");
    expect(describeProfile(profile("done"))).toBe("");
    expect(profilePercent(profile("running"))).toBe(25);
    expect(profilePercent({ n_done: 0, n_total: 0 })).toBe(0);
  });

  it("is as healthy as its worst host", () => {
    const health = (...states: HostHealth["state"][]) => ({ hosts: states.map((state) => ({ state }) as HostHealth) });
    expect(worstHealth(health("good", "insufficient_data", "stale"))).toBe("insufficient_data");
    expect(worstHealth(health("good"))).toBe("good");
    expect(worstHealth(health())).toBeNull();
  });

  it("has windows that users can edit as text", () => {
    const windows = [
      { start: "2026-11-21T08:00:00Z", end: "2026-11-21T09:30:00Z" },
      { start: "2026-11-22T08:00:00Z", end: "2026-11-22T09:00:00Z" },
    ];
    const text = formatWindows(windows, "Europe/Berlin");
    expect(text).toBe("2026-11-21 09:00:00 to 2026-11-21 10:30:00\n2026-11-22 09:00:00 to 2026-11-22 10:00:00");
    expect(parseWindows(text, "Europe/Berlin", NOW)).toEqual(
      windows.map(({ start, end }) => ({ start: parseIso(start), end: parseIso(end) })),
    );
    expect(parseWindows("09:00 to 10:00\n\n", "UTC", NOW)).toEqual([
      { start: parseIso("2026-11-21T09:00:00Z"), end: parseIso("2026-11-21T10:00:00Z") },
    ]);
    for (const wrong of ["09:00", "10:00 to 09:00", "a to b", "09:00 to 10:00 to 11:00"]) {
      expect(parseWindows(wrong, "UTC", NOW)).toContain("is not a window");
    }
    expect(parseWindows(" \n", "UTC", NOW)).toContain("at least one");
  });

  it("offers its newest version and all earlier ones", () => {
    expect(versionOptions(3).map(({ value }) => value)).toEqual(["", "2", "1"]);
  });

  it("names some of many hosts, and counts the rest", () => {
    expect(abbreviateNames(["sda", "sdb"], 2)).toBe("sda, sdb");
    expect(abbreviateNames(["a", "b", "c"], 30, 2)).toBe("a, b and 28 more");
    expect(isSameNames(["a", "b"], ["b", "a"])).toBe(true);
    expect(isSameNames(["a"], ["a", "b"])).toBe(false);
  });

  it("has a coverage that is never rounded to all or nothing", () => {
    expect([0, 0.0001, 0.5, 0.9731, 0.9999, 1].map(formatShare)).toEqual(["0 %", "0.1 %", "50 %", "97.3 %", "99.9 %", "100 %"]);
  });
});

describe("a rule in a form", () => {
  it("survives a round trip to the server", () => {
    const draft = defaultRule("Europe/Berlin");
    const sent = toRule(draft);
    expect(sent).toEqual({ rrule: "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", start: "09:00", duration_s: 28_800, keep_days: 28 });
    expect(draftOfRule({ ...sent, start: "2026-10-24T09:00:00" }, "Europe/Berlin")).toEqual(draft);
    const night = { ...draft, days: ["SA", "SU"] as const, from: "22:00", to: "06:30" };
    expect(draftOfRule(toRule(night), "Europe/Berlin")).toEqual(night);
    expect(describeBaselineRule({ ...sent, start: "2026-10-24T09:00:00" }, "Europe/Berlin")).toBe(
      "weekdays 09:00–17:00 Europe/Berlin, keeping the last 4 weeks",
    );
  });

  it("is not sent half filled in, and not shown if the form cannot express it", () => {
    const draft = defaultRule("UTC");
    for (const change of [{ days: [] }, { from: "9" }, { to: "25:00" }, { keepDays: Number.NaN }, { keepDays: 0 }]) {
      expect(Object.keys(ruleProblems({ ...draft, ...change }))).toEqual(Object.keys(change));
    }
    expect(ruleProblems(draft)).toEqual({});
    const rule = { start: "09:00", duration_s: 3600, keep_days: 7 };
    expect(draftOfRule({ ...rule, rrule: "FREQ=MONTHLY;BYMONTHDAY=1" }, "UTC")).toBeNull();
    expect(draftOfRule({ ...rule, rrule: "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO" }, "UTC")).toBeNull();
    expect(draftOfRule({ ...rule, rrule: "FREQ=DAILY", duration_s: 200_000 }, "UTC")).toBeNull();
    expect(draftOfRule({ ...rule, rrule: "FREQ=DAILY" }, "UTC")?.days).toHaveLength(7);
  });
});
