import { expect, test } from "vitest";
import { bandAt, describeDistance, type DrawnAxis, nearestLine, pixelOfValue } from "./nearest";
import type { LegendEntry } from "./series";
import { madeField } from "./stat_fixture";
import { toEpochMs } from "./time";

const AXIS: DrawnAxis = { low: 0, high: 100, isLog: false, top: 20, height: 100 };
const entry = (key: string, values: readonly (number | null)[]): LegendEntry => ({
  key,
  name: key,
  field: madeField(key, "%", { decimals: 1 }),
  series: { instance: "", field: key, unit: "%", n_raw: values.length, times: values.map((_, index) => index * 1000), values },
  tolerance_ms: 500,
  newest: null,
  lowest: null,
  highest: null,
  last: null,
});

test("a value has a pixel; on a logarithmic axis none at zero", () => {
  expect(pixelOfValue(100, AXIS)).toBe(20);
  expect(pixelOfValue(25, AXIS)).toBe(95);
  const log = { ...AXIS, low: 0, high: 2, isLog: true };
  expect(pixelOfValue(10, log)).toBe(70);
  expect(pixelOfValue(0, log)).toBeNull();
});

test("the nearest line is the one under the pointer, of a stack by its upper edge", () => {
  const lines = [entry("usr", [10, 60]), entry("sys", [50, 20])];
  expect(nearestLine(lines, toEpochMs(1000), 62, AXIS, false)).toMatchObject({ entry: { key: "usr" }, value: 60, y: 60 });
  expect(nearestLine(lines, toEpochMs(1000), 98, AXIS, false)).toMatchObject({ entry: { key: "sys" }, value: 20 });
  expect(nearestLine(lines, toEpochMs(1000), 41, AXIS, true)).toMatchObject({ entry: { key: "sys" }, value: 20, y: 40 });
});

test("a gap, and a line far away, have no tooltip", () => {
  expect(nearestLine([entry("usr", [10, null])], toEpochMs(1000), 100, AXIS, false)).toBeNull();
  expect(nearestLine([entry("usr", [100])], toEpochMs(0), 120, AXIS, false)).toBeNull();
});

test("the distance from the band is that from the nearer end of the band", () => {
  const times = [0, 1000, 1000, 2000].map(toEpochMs);
  const pieces = [{ times, low: [1, 1, 5, 5], middle: [2, 2, 6, 6], high: [3, 3, 7, 7] }];
  expect(bandAt(pieces, 500)).toEqual({ low: 1, middle: 2, high: 3 });
  expect(bandAt(pieces, 1500)).toEqual({ low: 5, middle: 6, high: 7 });
  expect(bandAt(pieces, 2500)).toBeNull();
  const band = { low: 1, middle: 2, high: 3 };
  expect(describeDistance(12.5, band, 1, "%")).toBe("9.5 % above the band");
  expect(describeDistance(0.5, band, 1, "%")).toBe("0.5 % below the band");
  expect(describeDistance(3, band, 1, "%")).toBe("within the band");
});
