import { describe, expect, it } from "vitest";
import type { FieldInfo } from "./api";
import type { SeriesBlock } from "./block";
import {
  assignSlots,
  describeBlock,
  describeResolution,
  extremesOf,
  isBlockEmpty,
  labelEntries,
  legendOf,
  lowerBound,
  meantSlots,
  newestTime,
  nextSampleTime,
  piecesOf,
  readingTolerance,
  sampleAt,
  seriesKey,
  tableRows,
  toggled,
  windowOf,
} from "./series";
import { madeField } from "./stat_fixture";
import { toEpochMs } from "./time";

const series = (times: number[], values: (number | null)[], instance = "", field = "us") => ({
  instance,
  field,
  unit: "%",
  times,
  values,
  n_raw: values.length,
});

const block = (...all: ReturnType<typeof series>[]): SeriesBlock => ({
  host: "h",
  stat: "s",
  start: "2026-11-21T09:00:00Z",
  end: "2026-11-21T10:00:00Z",
  resolution: "raw",
  source: "raw",
  column_ms: 1000,
  n_raw: 3,
  n_points: 3,
  n_instances_left_out: 0,
  series: all,
});

describe("the sample under the crosshair", () => {
  const line = series([1_000, 2_000, 5_000, 6_000], [10, 20, null, 60]);

  it("is the nearest one", () => {
    expect(sampleAt(line, toEpochMs(1_400), 1_000)).toEqual({ time: 1_000, value: 10 });
    expect(sampleAt(line, toEpochMs(1_600), 1_000)).toEqual({ time: 2_000, value: 20 });
    expect(sampleAt(line, toEpochMs(9_000), 5_000)).toEqual({ time: 6_000, value: 60 });
  });

  it("is missing if the nearest one is too far away, or in a gap", () => {
    expect(sampleAt(line, toEpochMs(3_500), 1_000)).toBeNull();
    expect(sampleAt(line, toEpochMs(5_100), 1_000)).toBeNull();
    expect(sampleAt(series([], []), toEpochMs(0), 1_000)).toBeNull();
  });

  it("may be most of a step or a few pixels away", () => {
    expect(readingTolerance(series([0, 1_000, 2_000, 60_000], [1, 2, 3, 4]), 10)).toBe(750);
    expect(readingTolerance(series([0, 1_000], [1, 2]), 5_000)).toBe(30_000);
  });

  it("does not reach into a gap: the distance to the next sample is no interval", () => {
    // A process in one report a minute, and the breaks in between.
    expect(readingTolerance(series([0, 30_000, 60_000, 90_000, 120_000], [1, null, 2, null, 3]), 10)).toBe(60);
  });

  it("is found on a stepped axis, too", () => {
    const both = block(line, series([1_500], [1], "x"));
    expect(nextSampleTime(both, null, 1)).toBe(1_000);
    expect(nextSampleTime(both, null, -1)).toBe(6_000);
    expect(nextSampleTime(both, toEpochMs(1_000), 1)).toBe(1_500);
    expect(nextSampleTime(both, toEpochMs(1_500), -1)).toBe(1_000);
    expect(nextSampleTime(both, toEpochMs(6_000), 1)).toBe(6_000);
  });
});

describe("series", () => {
  it("are found by lowerBound as by a linear search", () => {
    const times = [1, 3, 3, 7, 9];
    for (let at = 0; at < 11; at += 1) {
      const slow = times.findIndex((time) => time >= at);
      expect(lowerBound(times, at)).toBe(slow < 0 ? times.length : slow);
    }
  });

  it("are cut into pieces at gaps", () => {
    expect(piecesOf([null, 1, 2, null, null, 3, null])).toEqual([
      [1, 3],
      [5, 6],
    ]);
    expect(piecesOf([])).toEqual([]);
    expect(piecesOf([1])).toEqual([[0, 1]]);
  });

  it("ignore gaps in their extremes", () => {
    expect(extremesOf([null, -1, 0, null])).toEqual({ lowest: -1, highest: 0, last: 0 });
    expect(extremesOf([null])).toEqual({ lowest: null, highest: null, last: null });
  });

  it("are empty if all values are gaps", () => {
    expect(isBlockEmpty(block(series([1], [null])))).toBe(true);
    expect(isBlockEmpty(block(series([1], [0])))).toBe(false);
  });

  it("become table rows, newest first, with null for missing cells", () => {
    expect(tableRows(block(series([1, 2], [10, null]), series([2, 3], [5, 6], "x")), 10)).toEqual([
      { time: 3, values: [null, 6] },
      { time: 2, values: [null, 5] },
      { time: 1, values: [10, null] },
    ]);
  });
});

describe("the note on a graph's points", () => {
  const one = [series([1], [1])];
  const all = { resolution: "raw", source: "raw" } as const;
  it("counts samples", () => {
    expect(describeResolution({ ...all, n_points: 900, n_raw: 900, series: one })).toBe("raw: all 900 samples");
    expect(describeResolution({ ...all, n_points: 0, n_raw: 0, series: [] })).toBe("no samples");
  });

  it("names their source", () => {
    const says = (source: SeriesBlock["source"]): string =>
      describeResolution({ resolution: "envelope", source, n_points: 1_200, n_raw: 86_400, series: one });
    const rest = "1,200 of 86,400 samples, extremes of each pixel";
    expect((["raw", "rollup_minute", "rollup_hour", "mixed"] as const).map(says)).toEqual([
      `raw: ${rest}`,
      `from minutes: ${rest}`,
      `from hours: ${rest}`,
      `from rollups and raw: ${rest}`,
    ]);
  });

  it("counts values if a sample has several, and lines that are not drawn", () => {
    const two = [series([1], [1]), series([1], [1], "", "sy")];
    expect(describeBlock({ ...all, n_points: 2, n_raw: 2, n_instances_left_out: 1_200, series: two })).toBe(
      "raw: all 2 values; 1,200 instances not drawn",
    );
  });
});

describe("a block", () => {
  it("has a window and a newest point", () => {
    expect(windowOf(block())).toEqual({ start: Date.UTC(2026, 10, 21, 9), end: Date.UTC(2026, 10, 21, 10) });
    expect(newestTime(block(series([1, 5], [1, null]), series([1, 4], [1, 2], "x"), series([], [], "y")))).toBe(5);
    expect(newestTime(block())).toBeNull();
  });
});

describe("legends", () => {
  const usr = madeField("us", "%", { column: "%usr" });
  const sys = madeField("sy", "%", { column: "%sys" });

  it("name only what distinguishes lines", () => {
    const names = (all: SeriesBlock, fields: FieldInfo[]): string[] => legendOf(all, fields, 100).map(({ name }) => name);
    expect(names(block(series([1], [1], "0"), series([1], [1], "1")), [usr])).toEqual(["0", "1"]);
    const both = [usr, sys];
    expect(names(block(series([1], [1], "0"), series([1], [1], "0", "sy")), both)).toEqual(["%usr", "%sys"]);
    expect(names(block(series([1], [1], "0"), series([1], [1], "1", "sy")), both)).toEqual(["0 %usr", "1 %sys"]);
  });

  it("say what is known of an instance", () => {
    const entries = legendOf(block(series([1], [1], "0"), series([1], [1], "1")), [usr], 100);
    expect(labelEntries(entries, new Map([["1", "set 2"]])).map(({ name }) => name)).toEqual(["0", "1 (set 2)"]);
    expect(labelEntries(entries, new Map())).toBe(entries);
  });

  it("show the newest value only of lines that reach the end of the panel", () => {
    const times = [...Array(100).keys()].map((i) => i * 1_000);
    const alive = series(times, times, "alive");
    const ended = series(times.slice(0, 50), times.slice(0, 50), "ended");
    const entries = legendOf(block(alive, ended), [usr], 100);
    expect(entries.map(({ newest, last }) => [newest, last])).toEqual([
      [99_000, 99_000],
      [null, 49_000],
    ]);
  });

  it("hide, show and isolate lines", () => {
    const all = ["a", "b", "c"];
    const without = toggled(new Set(), "b", all, false);
    expect([...without]).toEqual(["b"]);
    expect([...toggled(without, "b", all, false)]).toEqual([]);
    const alone = toggled(without, "a", all, true);
    expect([...alone]).toEqual(["b", "c"]);
    expect([...toggled(alone, "a", all, true)]).toEqual([]);
  });

  it("keep a series' colour while others come and go", () => {
    const first = assignSlots(new Map(), ["a", "b", "c"]);
    expect([...first]).toEqual([
      ["a", 0],
      ["b", 1],
      ["c", 2],
    ]);
    const second = assignSlots(first, ["c", "d", "a"]);
    expect(Object.fromEntries(second)).toEqual({ a: 0, c: 2, d: 1 });
    expect(assignSlots(second, ["d", "a"])).toBe(second);
  });

  it("gives what means the same the same colour, and iowait another than sys", () => {
    const linux = [
      { key: "sys_pct", meanings: ["cpu.sys"] },
      { key: "iowait_pct", meanings: ["cpu.wait"] },
      { key: "other", meanings: [] },
    ];
    const solaris = [
      { key: "cpu_us", meanings: ["cpu.usr"] },
      { key: "cpu_sy", meanings: ["cpu.sys"] },
    ];
    const slotsOf = (fields: typeof linux): Readonly<Record<string, number>> => {
      const series = fields.map(({ key }) => ({ field: key, instance: "" }));
      return Object.fromEntries(assignSlots(new Map(), series.map(seriesKey), meantSlots(series, fields)));
    };
    const found = slotsOf(linux);
    expect(found["sys_pct "]).toBe(slotsOf(solaris)["cpu_sy "]);
    expect(found["iowait_pct "]).not.toBe(found["sys_pct "]);
    expect(found["other "]).toBe(0);
    expect(new Set(Object.values(found)).size).toBe(3);
  });

  it("leaves the colours to the instances where there is one field", () => {
    expect(meantSlots([{ field: "sys_pct", instance: "0" }], [{ key: "sys_pct", meanings: ["cpu.sys"] }]).size).toBe(0);
  });
});
