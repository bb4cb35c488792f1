import { expect, test } from "vitest";
import type { Comparison } from "./api";
import { againstOf, earlierWindow, formatReference, largestDifferences, usualReference } from "./selection";
import { DAY, HOUR, MINUTE, toEpochMs } from "./time";

const MARK = { start: toEpochMs(10 * DAY), end: toEpochMs(10 * DAY + 5 * MINUTE) };
const made = (id: number, nWindows: number) => ({
  id,
  windows: Array.from({ length: nWindows }, () => ({ start: "2026-11-21T00:00:00Z", end: "2026-11-21T01:00:00Z" })),
  recording_until: null,
  is_rolling: false,
});

test("a selection is set beside the drawn baseline, else the newest, else the hour before it", () => {
  expect(usualReference(7, [made(9, 1)])).toEqual({ kind: "baseline", id: 7 });
  expect(usualReference(null, [made(9, 0), made(8, 1)])).toEqual({ kind: "baseline", id: 8 });
  expect(usualReference(null, [])).toEqual({ kind: "earlier", when: "before" });
  expect(formatReference({ kind: "baseline", id: 8 })).toBe("baseline 8");
});

test("the time before is an hour at least, and as long as the selection", () => {
  expect(earlierWindow(MARK, "before")).toEqual({ start: MARK.start - HOUR, end: MARK.start });
  const long = { start: MARK.start, end: toEpochMs(MARK.start + 3 * HOUR) };
  expect(earlierWindow(long, "before")).toEqual({ start: MARK.start - 3 * HOUR, end: MARK.start });
  expect(earlierWindow(MARK, "week")).toEqual({ start: MARK.start - 7 * DAY, end: MARK.end - 7 * DAY });
});

test("the comparison is asked for the same", () => {
  expect(againstOf({ kind: "baseline", id: 3 }, MARK)).toEqual({ kind: "baseline", id: 3, version: null });
  expect(againstOf({ kind: "earlier", when: "day" }, MARK)).toEqual({ kind: "ago", ago: "day" });
  expect(againstOf({ kind: "earlier", when: "before" }, MARK)).toEqual({
    kind: "window",
    window: { start: MARK.start - HOUR, end: MARK.start },
  });
});

test("cards of the answer come before groups that belong to none; three at most", () => {
  const story = { title: "CPU", sentence: "Likely: yes took the CPU", hosts: ["web1"], ranks: [1, 3], onset_ms: null };
  const group = (rank: number) => ({
    rank,
    column: "cs",
    stat: "vmstat_linux",
    sentence: `group ${String(rank)}`,
    certainty: "sure",
  });
  const groups = [1, 2, 3, 4, 5].map(group);
  const found = largestDifferences({ stories: [story], groups } as unknown as Pick<Comparison, "stories" | "ledger" | "groups">);
  expect(found.map(({ sentence }) => sentence)).toEqual(["yes took the CPU", "group 2", "group 4"]);
  expect(found.map(({ certainty }) => certainty)).toEqual(["likely", "sure", "sure"]);
  expect(found[1]?.title).toBe("cs (vmstat_linux)");
});
