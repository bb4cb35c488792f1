import { expect, test } from "vitest";
import { changeOf, formatStatistic, statisticsWindow, valuesOf } from "./statistics";
import { toEpochMs } from "./time";
import { PLAIN_SCALE, scaleFor } from "./unit";

test("all samples count, gaps do not", () => {
  const values = valuesOf([3, null, 1, 2, 10]);
  expect(values).toMatchObject({ n: 4, lowest: 1, mean: 4, highest: 10, last: 10 });
  // As numpy's quantile: between the third and the fourth of four, at 0.95 * 3 = 2.85.
  expect(values.p95).toBeCloseTo(3 + 0.85 * 7, 12);
  expect(valuesOf([null, null])).toEqual({ n: 0, lowest: null, mean: null, p95: null, highest: null, last: null });
  expect(valuesOf([-1, -3, null])).toMatchObject({ lowest: -3, highest: -1, last: -3 });
});

test("a live window moves in steps, a fixed one does not", () => {
  const window = { start: toEpochMs(1_234_567), end: toEpochMs(1_234_567 + 3_600_000) };
  expect(statisticsWindow(window, false)).toBe(window);
  const live = statisticsWindow(window, true);
  expect(live.end - live.start).toBe(3_600_000);
  expect(live.end % 60_000).toBe(0);
});

test("numbers have the digits that were printed, computed ones at most one more", () => {
  expect(formatStatistic(12, "last", 0, PLAIN_SCALE)).toBe("12");
  expect(formatStatistic(12.345, "mean", 0, PLAIN_SCALE)).toBe("12.3");
  expect(formatStatistic(1234.5, "mean", 0, PLAIN_SCALE)).toBe("1,235");
  expect(formatStatistic(12.345, "mean", 2, PLAIN_SCALE)).toBe("12.35");
  expect(formatStatistic(null, "p95", 2, PLAIN_SCALE)).toBe("–");
  expect(formatStatistic(846_360, "last", 0, scaleFor("KiB", 846_360))).toBe("827");
  expect(formatStatistic(4, "last", 0, scaleFor("state", 5))).toBe("red");
  expect(formatStatistic(3, "mean", 0, scaleFor("state", 5))).toBe("–");
  expect(formatStatistic(3.9, "p95", 0, scaleFor("state", 5))).toBe("–");
});

const FIELD = { unit: "%", worse: "higher", decimals: 1 } as const;
const side = (n: number, lowest: number, mean: number, p95: number, highest: number) => ({
  n,
  lowest,
  mean,
  p95,
  highest,
  last: null,
});

test("a mean outside the usual range of the baseline is a change", () => {
  const baseline = side(600, 2, 10, 20, 40);
  expect(changeOf({ window: side(40, 90, 95, 99, 100), baseline }, FIELD)).toMatchObject({ text: "+85 points", tone: "worse" });
  expect(changeOf({ window: side(40, 1, 12, 20, 30), baseline }, FIELD)).toMatchObject({ text: "", tone: "none" });
  const lower = changeOf({ window: side(40, 0, 0.5, 1, 1), baseline }, FIELD);
  expect(lower).toMatchObject({ text: "−9.5 points", tone: "better" });
  const rate = { ...FIELD, unit: "1/s", worse: "neither" } as const;
  expect(changeOf({ window: side(40, 60, 80, 90, 100), baseline }, rate)).toMatchObject({ text: "×8", tone: "neither" });
  expect(changeOf({ window: side(40, 60, 80, 90, 100), baseline: side(60, 0, 0, 0, 0) }, rate).text).toBe("from 0");
});

test("a line that the baseline does not have comes first, one without samples last", () => {
  const only = { window: side(40, 60, 80, 90, 100), baseline: null };
  expect(changeOf(only, FIELD)).toMatchObject({ text: "not in the baseline", size: Number.POSITIVE_INFINITY });
  const nothing = { n: 0, lowest: null, mean: null, p95: null, highest: null, last: null };
  expect(changeOf({ window: nothing, baseline: side(60, 0, 1, 2, 3) }, FIELD).size).toBe(0);
});
