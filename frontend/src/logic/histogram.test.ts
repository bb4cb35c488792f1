import { describe, expect, it } from "vitest";
import { columnsFor, columnsOf, distributionsOf, gridOf, instanceRows, lowEnd, splitBucket } from "./histogram";
import { toEpochMs } from "./time";

const series = (instance: string, times: number[], values: (number | null)[]) => ({
  field: "count",
  instance,
  n_raw: times.length,
  times,
  unit: "",
  values,
});

describe("buckets", () => {
  it("are labelled by the text in the last braces", () => {
    expect(splitBucket("@usecs{[256, 512)}")).toEqual({ key: "@usecs", label: "[256, 512)" });
    expect(splitBucket("a{b{1}")).toEqual({ key: "a{b", label: "1" });
    expect(splitBucket("plain")).toEqual({ key: "plain", label: "" });
  });

  it("take their lower end from their label", () => {
    expect(["[1K, 2K)", "256 -> 511", "8", "[3]"].map(lowEnd)).toEqual([1024, 256, 8, 3]);
    expect(lowEnd("< 0")).toBe(Number.NEGATIVE_INFINITY);
    expect(lowEnd("(..., 0)")).toBe(Number.NEGATIVE_INFINITY);
    expect(lowEnd("?")).toBe(Number.POSITIVE_INFINITY);
  });

  it("are ordered by value, for each key", () => {
    const block = { series: [series("k{[1K, 2K)}", [], []), series("k{[2, 4)}", [], []), series("j{< 0}", [], [])] };
    expect(distributionsOf(block).map(({ key, buckets }) => [key, buckets.map(({ label }) => label)])).toEqual([
      ["k", ["[2, 4)", "[1K, 2K)"]],
      ["j", ["< 0"]],
    ]);
  });
});

describe("the grid", () => {
  it("holds the highest count of each column, and nothing without samples", () => {
    const buckets = [{ label: "1", series: { times: [0, 5, 12, 39, 40], values: [1, 7, null, 3, 9] } }];
    const grid = gridOf(buckets, { start_ms: 0, step_ms: 10, n: 4 });
    expect(grid.edges).toEqual([0, 10, 20, 30, 40]);
    expect(grid.counts).toEqual([[7, null, null, 3]]);
  });

  it("omits samples before the window", () => {
    const buckets = [{ label: "1", series: { times: [5, 15], values: [7, 2] } }];
    expect(gridOf(buckets, { start_ms: 10, step_ms: 10, n: 1 }).counts).toEqual([[2]]);
  });
});

describe("instances as rows", () => {
  const cpus = ["10", "all", "2", "sda", "0"].map((name) => series(name, [0, 1_000, 2_000], [1, 2, 3]));

  it("are in numeric order, words first", () => {
    const [rows] = instanceRows({ series: cpus });
    expect(rows?.buckets.map(({ label }) => label)).toEqual(["all", "sda", "0", "2", "10"]);
    expect(instanceRows({ series: [] })).toEqual([]);
  });

  it("have no column between two samples", () => {
    const { buckets } = instanceRows({ series: cpus })[0]!;
    const window = { start: toEpochMs(0), end: toEpochMs(10_000) };
    expect(columnsFor(buckets, window, 500)).toEqual({ start_ms: 0, step_ms: 1_000, n: 10 });
    expect(columnsFor(buckets, window, 4).n).toBe(4);
    expect(columnsFor([], window, 4).n).toBe(4);
  });

  it("use the server's columns, so that the extreme of each column is the extreme of its samples", () => {
    const block = {
      resolution: "envelope",
      source: "raw",
      column_ms: 700,
      start: "1970-01-01T00:02:10Z",
      end: "1970-01-01T00:03:20Z",
    } as const;
    expect(columnsOf(block)).toEqual({ start_ms: 130_000, step_ms: 700, n: 100 });
    expect(columnsOf({ ...block, source: "rollup_minute", column_ms: 60_000 })).toEqual({
      start_ms: 120_000,
      step_ms: 60_000,
      n: 2,
    });
    expect(columnsOf({ ...block, source: "mixed", column_ms: 7_200_000 })).toMatchObject({ start_ms: 0, n: 1 });
    expect(columnsOf({ ...block, resolution: "raw" })).toBeNull();
  });

  it("show the lowest value if lower is worse", () => {
    const { buckets } = instanceRows({ series: [series("0", [0, 1, 2], [5, 3, null])] })[0]!;
    expect(gridOf(buckets, { start_ms: 0, step_ms: 10, n: 2 }, "lowest").counts).toEqual([[3, null]]);
    expect(gridOf(buckets, { start_ms: 0, step_ms: 10, n: 2 }).counts).toEqual([[5, null]]);
  });
});
