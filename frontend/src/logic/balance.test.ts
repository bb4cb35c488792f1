import { describe, expect, test } from "vitest";
import type { CpuBalance } from "./api";
import {
  balanceRows,
  balanceWindow,
  describeMoment,
  drawImbalance,
  imbalanceRuns,
  momentAt,
  nextStep,
  worstMoment,
} from "./balance";
import { toEpochMs } from "./time";

const BALANCE: CpuBalance = {
  host: "web1",
  stat: "mpstat_linux",
  start: "2026-11-21T10:00:00Z",
  end: "2026-11-21T10:01:00Z",
  step_ms: 5000,
  cpus: ["0", "1", "10"],
  // Nothing was recorded at 10,000.
  starts: [0, 5000, 15_000, 20_000],
  busy: [
    [1, 0, 50, null],
    [0, 0, 50, null],
    [2, 90, 50, 20],
  ],
  mean: [1, 30, 50, 20],
  imbalance: [null, 200, 0, null],
  is_wait_known: true,
};

describe("the rows of the heatmap", () => {
  test("are the CPUs, with columns for steps without samples too", () => {
    const rows = balanceRows(BALANCE);
    expect(rows?.columns).toEqual({ start_ms: 0, step_ms: 5000, n: 5 });
    expect(rows?.distribution.buckets.map(({ label }) => label)).toEqual(["0", "1", "10"]);
    expect(rows?.distribution.buckets[2]?.series.values).toEqual([2, 90, 50, 20]);
  });
  test("are none without samples", () => {
    expect(balanceRows({ ...BALANCE, starts: [], step_ms: 0 })).toBeNull();
  });
});

describe("a moment tells the busiest CPU", () => {
  test.each([
    [7000, "imbalance 200 %; busiest CPU 10 at 90 %, mean 30 %"],
    [0, "imbalance undefined (CPUs below 5 % busy, or only one); busiest CPU 10 at 2 %, mean 1 %"],
    [12_000, null],
    [25_000, null],
    [-1, null],
  ])("at %i", (at, expected) => {
    const moment = momentAt(BALANCE, toEpochMs(at));
    expect(moment === null ? null : describeMoment(moment)).toBe(expected);
  });
  test("and the worst one is where the imbalance is largest", () => {
    expect(worstMoment(BALANCE)?.start).toBe(5000);
    expect(worstMoment({ ...BALANCE, imbalance: [null, null, null, null] })).toBeNull();
  });
});

test("the line breaks where the imbalance is undefined, and where nothing was recorded", () => {
  expect(imbalanceRuns(BALANCE)).toEqual([[[7500, 200]], [[17_500, 0]]]);
  expect(imbalanceRuns({ ...BALANCE, starts: [0, 5000, 10_000, 15_000] })).toEqual([
    [
      [7500, 200],
      [12_500, 0],
    ],
  ]);
});

test("the line is drawn from 0 to its largest value, at least to 100 %", () => {
  const xOf = (at: number) => (at > 10_000 ? null : at / 100);
  expect(drawImbalance(BALANCE, 34, xOf)).toEqual({ paths: ["75.0,2.0"], top: 200 });
  expect(drawImbalance({ ...BALANCE, imbalance: [50, null, null, null] }, 34, xOf)).toEqual({ paths: ["25.0,17.5"], top: 100 });
});

test("the requested window moves by whole cells", () => {
  const window = { start: toEpochMs(1_000_300), end: toEpochMs(1_900_300) };
  expect(balanceWindow(window, 200)).toEqual({ start: 1_000_000, end: 1_905_000 });
  expect(balanceWindow({ start: toEpochMs(300), end: toEpochMs(900) }, 200)).toEqual({ start: 0, end: 1000 });
});

test.each([
  [null, 1, 0],
  [null, -1, 20_000],
  [5000, 1, 15_000],
  [5000, -1, 0],
  [20_000, 1, 20_000],
] as const)("the step from %s in direction %i is %i", (at, direction, expected) => {
  expect(nextStep(BALANCE, at === null ? null : toEpochMs(at), direction)).toBe(expected);
  expect(nextStep({ starts: [] }, null, 1)).toBeNull();
});
