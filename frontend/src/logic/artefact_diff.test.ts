import { describe, expect, it } from "vitest";
import type { DistributionDiff, TableDiffRow } from "./api";
import { barOf, bucketRows, formatDifference, formatRatio, groupChoices, keyPlaces, windowOf } from "./artefact_diff";
import { toIso } from "./time";

function row(change: Partial<TableDiffRow>): TableDiffRow {
  return {
    key: ["", "lock", "caller"],
    state: "both",
    before: [],
    after: [],
    before_value: null,
    after_value: null,
    difference: null,
    ratio: null,
    before_share: null,
    after_share: null,
    ...change,
  };
}

describe("numbers of a diff", () => {
  it("have four digits, their sign, and the seeds' ratio", () => {
    expect([57, -57, 0, null].map(formatDifference)).toEqual(["+57", "−57", "0", "–"]);
    expect([569_898 / 15_126_580, 1, 47, null, Infinity].map(formatRatio)).toEqual(["3.768 %", "100 %", "× 47", "–", "–"]);
  });

  it("draw bars against the widest difference", () => {
    const rows = [row({ difference: -200 }), row({ difference: 50 }), row({})];
    expect(rows.map((each) => barOf(each, rows))).toEqual([100, 25, 0]);
    expect(barOf(row({ difference: 0 }), [row({ difference: 0 })])).toBe(0);
  });

  it("leave out a key that no row has", () => {
    expect(keyPlaces({ key_names: ["section", "lock", "caller"], rows: [row({})] })).toEqual([1, 2]);
    expect(keyPlaces({ key_names: ["row"], rows: [row({ key: [""] })] })).toEqual([0]);
    expect(groupChoices(["lock", "caller"])).toEqual([[], ["lock"], ["caller"]]);
    expect(groupChoices(["key"])).toEqual([]);
  });
});

describe("buckets over each other", () => {
  const diff: DistributionDiff = {
    key: "@usecs",
    before_key: "",
    unit: "us",
    buckets: ["1", "2", "4", "8"].map((label) => ({ label, low: Number(label), high: 2 * Number(label) })),
    before: [0, 8, 2, 0],
    after: [0, 0, 20, 0],
    before_total: 10,
    after_total: 20,
    before_median: 1,
    after_median: 2,
    shift: 1,
    before_peak: 1,
    after_peak: 2,
    is_merged: false,
    distance: 0.8,
    sentence: "",
  };

  it("are shares of their own side, from the first that holds anything to the last", () => {
    const rows = bucketRows(diff);
    expect(rows.map(({ label }) => label)).toEqual(["2", "4"]);
    expect(rows.map(({ beforeShare, afterShare }) => [beforeShare, afterShare])).toEqual([
      [0.8, 0],
      [0.2, 1],
    ]);
    expect(rows[1]?.afterBar).toBe(100);
  });

  it("are none without events", () => {
    expect(bucketRows({ ...diff, before: [0, 0, 0, 0], after: [0, 0, 0, 0], before_total: 0, after_total: 0 })).toEqual([]);
  });
});

describe("the window of an artefact", () => {
  it("is a minute on each side where only its moment is known", () => {
    const texts = (end: string | null): readonly (string | undefined)[] => {
      const window = windowOf({ start: "2026-11-22T00:00:00Z", end });
      return [window, window].map((each, at) => (each === null ? undefined : toIso(at === 0 ? each.start : each.end)));
    };
    expect(texts("2026-11-22T00:00:10Z")).toEqual(["2026-11-22T00:00:00Z", "2026-11-22T00:00:10Z"]);
    expect(texts(null)).toEqual(["2026-11-21T23:59:00Z", "2026-11-22T00:01:00Z"]);
    expect(windowOf({ start: "yesterday", end: null })).toBeNull();
  });
});
