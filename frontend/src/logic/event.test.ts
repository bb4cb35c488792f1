import { describe, expect, it } from "vitest";
import type { HostEvent } from "./api";
import {
  clusterKind,
  clusterMarks,
  describeMark,
  describeSource,
  type EventMark,
  eventsWindow,
  marksInside,
  toMarks,
  toTags,
  windowBetweenEvents,
  windowFromEvent,
} from "./event";
import { fromApi, toEpochMs } from "./time";

const NONE = { left: 0, right: 0, top: 0, bottom: 0 };
const UTC = "UTC";
const window = { start: fromApi("2026-11-22T10:00:00Z"), end: fromApi("2026-11-22T10:10:00Z") };

function event(at: string, text = "x", kind: HostEvent["kind"] = "setting", notBefore: string | null = null): HostEvent {
  return { at, not_before: notBefore, kind, text, end: null, tags: [], hosts: ["web1"], source: "facts", author: "", id: null };
}

function mark(...args: Parameters<typeof event>): EventMark {
  const [marked] = toMarks([event(...args)]);
  if (marked === undefined) {
    throw new Error("no mark");
  }
  return marked;
}

describe("toMarks", () => {
  it("takes all times of an event", () => {
    const one = { ...event("2026-11-22T10:05:00Z", "t", "limit", "2026-11-22T10:00:00Z"), end: "2026-11-22T10:06:00Z" };
    expect(toMarks([one, { ...one, not_before: null, end: null }])).toEqual([
      {
        at: fromApi("2026-11-22T10:05:00Z"),
        end: fromApi("2026-11-22T10:06:00Z"),
        notBefore: fromApi("2026-11-22T10:00:00Z"),
        text: "t",
        kind: "limit",
        event: one,
      },
      mark("2026-11-22T10:05:00Z", "t", "limit"),
    ]);
  });
});

describe("eventsWindow", () => {
  it("covers the window in whole minutes", () => {
    const asked = eventsWindow({ start: toEpochMs(window.start + 1), end: toEpochMs(window.end - 1) });
    expect(asked).toEqual(window);
    expect(eventsWindow(window)).toEqual(window);
  });
});

describe("marksInside", () => {
  it("has the start of the window and not its end", () => {
    const marks = ["2026-11-22T09:59:59Z", "2026-11-22T10:00:00Z", "2026-11-22T10:10:00Z"].map((at) => mark(at));
    expect(marksInside(marks, window)).toEqual([marks[1]]);
  });

  it("has what still went on when the window began", () => {
    const before = { ...mark("2026-11-22T09:00:00Z"), end: fromApi("2026-11-22T10:00:00Z") };
    const during = { ...before, end: fromApi("2026-11-22T10:00:01Z") };
    expect(marksInside([before, during], window)).toEqual([during]);
  });
});

describe("clusterMarks", () => {
  const early = mark("2026-11-22T10:01:00Z");
  const close = mark("2026-11-22T10:01:02Z", "Rebooted", "reboot");
  const late = mark("2026-11-22T10:05:00Z");

  it("joins marks that are too close, in the order of time", () => {
    const clusters = clusterMarks([late, close, early], window, 600, NONE, 6);
    expect(clusters.map(({ x, marks }) => [x, marks])).toEqual([
      [60, [early, close]],
      [300, [late]],
    ]);
    expect(clusters.map(clusterKind)).toEqual(["reboot", "setting"]);
  });

  it("keeps marks apart that are far enough, and drops what is outside", () => {
    const wide = clusterMarks([early, close, mark("2026-11-22T11:00:00Z")], window, 6000, NONE, 6);
    expect(wide.map(({ x }) => x)).toEqual([600, 620]);
  });
});

describe("describeMark", () => {
  it("says when it happened at the earliest", () => {
    expect(describeMark(UTC, mark("2026-11-22T10:05:00Z", "CPUs online: 4 → 2", "hardware", "2026-11-22T10:00:00Z"))).toBe(
      "2026-11-22 10:05:00: CPUs online: 4 → 2 (after 10:00:00)",
    );
    expect(describeMark(UTC, mark("2026-11-22T00:05:00Z", "x", "limit", "2026-11-21T10:00:00Z"))).toBe(
      "2026-11-22 00:05:00: x (after 2026-11-21 10:00:00)",
    );
    expect(describeMark(UTC, mark("2026-11-22T10:05:00Z", "Rebooted", "reboot"))).toBe("2026-11-22 10:05:00: Rebooted");
  });
});

describe("describeMark of a period", () => {
  it("says when it ended", () => {
    const backup = { ...mark("2026-11-22T10:05:00Z", "backup", "maintenance"), end: fromApi("2026-11-22T10:30:00Z") };
    expect(describeMark(UTC, backup)).toBe("2026-11-22 10:05:00 – 10:30:00: backup");
  });
});

describe("toTags", () => {
  it("splits words and drops signs, blanks and repeats", () => {
    expect(toTags(["#web", "db, web  prod", ""])).toEqual(["web", "db", "prod"]);
  });
});

describe("describeSource", () => {
  it("names who noted it, and how", () => {
    expect(describeSource({ source: "user", author: "anna" })).toBe("anna");
    expect(describeSource({ source: "api", author: "deploy" })).toBe("deploy (API)");
    expect(describeSource({ source: "facts", author: "" })).toBe("facts");
    expect(describeSource({ source: "agent", author: "app.log" })).toBe("agent: app.log");
  });
});

describe("windows of events", () => {
  const [early, late] = [fromApi("2026-11-22T10:02:00Z"), fromApi("2026-11-22T10:08:00Z")];

  it("lie between two events, in any order", () => {
    const between = { start: early, end: fromApi("2026-11-22T10:08:01Z") };
    expect(windowBetweenEvents(early, late)).toEqual(between);
    expect(windowBetweenEvents(late, early)).toEqual(between);
    expect(windowBetweenEvents(early, early).end).toBe(fromApi("2026-11-22T10:02:01Z"));
  });

  it("begin or end at an event, and keep their length where they would be empty", () => {
    expect(windowFromEvent(window, early, "start")).toEqual({ start: early, end: window.end });
    expect(windowFromEvent(window, early, "end")).toEqual({ start: window.start, end: fromApi("2026-11-22T10:02:01Z") });
    const later = fromApi("2026-11-22T11:00:00Z");
    expect(windowFromEvent(window, later, "start")).toEqual({ start: later, end: fromApi("2026-11-22T11:10:00Z") });
    const before = fromApi("2026-11-22T09:00:00Z");
    expect(windowFromEvent(window, before, "end")).toEqual({
      start: fromApi("2026-11-22T08:50:01Z"),
      end: fromApi("2026-11-22T09:00:01Z"),
    });
  });
});
