import { describe, expect, it } from "vitest";
import type { HostEvent } from "./api";
import { clusterKind, clusterMarks, describeMark, type EventMark, eventsWindow, marksInside, toMarks } from "./event";
import { fromApi, toEpochMs } from "./time";

const NONE = { left: 0, right: 0, top: 0, bottom: 0 };
const UTC = "UTC";
const window = { start: fromApi("2026-11-22T10:00:00Z"), end: fromApi("2026-11-22T10:10:00Z") };

function mark(at: string, text = "x", kind = "setting", notBefore: string | null = null): EventMark {
  return { at: fromApi(at), notBefore: notBefore === null ? null : fromApi(notBefore), text, kind };
}

describe("toMarks", () => {
  it("takes both times of an event", () => {
    const event: HostEvent = { at: "2026-11-22T10:05:00Z", not_before: "2026-11-22T10:00:00Z", kind: "limit", text: "t" };
    expect(toMarks([event, { ...event, not_before: null }])).toEqual([
      mark("2026-11-22T10:05:00Z", "t", "limit", "2026-11-22T10:00:00Z"),
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
    expect(describeMark(UTC, mark("2026-11-22T00:05:00Z", "x", "", "2026-11-21T10:00:00Z"))).toBe(
      "2026-11-22 00:05:00: x (after 2026-11-21 10:00:00)",
    );
    expect(describeMark(UTC, mark("2026-11-22T10:05:00Z", "Rebooted", "reboot"))).toBe("2026-11-22 10:05:00: Rebooted");
  });
});
