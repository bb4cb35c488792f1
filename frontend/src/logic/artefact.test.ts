import { describe, expect, it } from "vitest";
import type { ArtefactTable, HistogramBucket } from "./api";
import {
  describeEffect,
  describeParts,
  formatIntervalShare,
  groupings,
  inTime,
  isRanked,
  leadOf,
  nameOf,
  paretoBars,
  readable,
  rowsOfShare,
  shareOfInterval,
} from "./artefact";
import { bucketName, describeBulk, quantileBucket } from "./distribution";
import { surfaceOf } from "./iozone";

const COLUMN = {
  key: "total_ns",
  title: "total nsec",
  unit: "ns",
  kind: "time",
  worse: "higher",
  decimals: 0,
  help: "",
  is_additive: true,
};
const ROW = { n_rows: 1, is_total: false };
const LOCKS: ArtefactTable = {
  title: "plockstat",
  stat: "plockstat",
  key_names: ["section", "lock", "caller"],
  all_key_names: ["section", "lock", "caller"],
  columns: [COLUMN],
  order: "total_ns",
  rows: [
    { ...ROW, key: ["TOTAL:"], values: [20_000_000], is_total: true, share: null, cumulative: null },
    { ...ROW, key: ["", "libc_malloc_lock", "deflate+0x29c"], values: [15_126_580], share: 0.75, cumulative: 0.75 },
    { ...ROW, key: ["", "other", "main"], values: [5_000_000], share: 0.25, cumulative: 1 },
  ],
  n_rows: 3,
  total: 20_126_580,
  reports: [null],
};

describe("a table of an artefact", () => {
  it("says the costliest row, not the sum of the rows, with its share of the watched time", () => {
    expect(leadOf(LOCKS, 10)).toEqual({
      key: "libc_malloc_lock · deflate+0x29c",
      value: "15.13 ms",
      share: "75 %",
      total: "20.13 ms",
      interval: "0.15 %",
      length: "10 s",
    });
    expect(leadOf(LOCKS, null)?.interval).toBe("");
    expect([rowsOfShare(LOCKS.rows, 0.8), rowsOfShare(LOCKS.rows.slice(0, 2), 0.8)]).toEqual([2, null]);
  });

  it("shows times in their natural unit, and counts as they are", () => {
    expect([readable(1_527_032, "ns"), readable(1e-5, "s"), readable(12_337, "calls"), readable(0, "ns")]).toEqual([
      "1.527 ms",
      "10 us",
      "12,337 calls",
      "0 ns",
    ]);
  });

  it("knows the share of the time only where there is a time", () => {
    expect([shareOfInterval(5e9, "ns", 10), shareOfInterval(5, "calls", 10), shareOfInterval(5, "s", null)]).toEqual([
      0.5,
      null,
      null,
    ]);
    expect([formatIntervalShare(0.00015), formatIntervalShare(1.5), formatIntervalShare(0)]).toEqual([
      "0.015 %",
      "150.0 %",
      "0.0 %",
    ]);
  });

  it("does not rank what the tool says about the whole run", () => {
    expect(["lockstat", "truss_syscalls", "lockstat_section", "truss_totals", "iozone", "time"].map(isRanked)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
    expect(groupings(["section", "lock", "caller"])).toHaveLength(7);
    expect(groupings(["key"])).toEqual([]);
  });
});

describe("an artefact", () => {
  it("has the name that people gave it, else its question, command, file or number", () => {
    const bare = { id: 7, title: "", question: " ", command: "", file_name: "", tool: "" };
    expect(nameOf({ ...bare, question: "which lock?\nand why", command: "lockstat" })).toBe("which lock?");
    expect([nameOf({ ...bare, tool: "perf" }), nameOf(bare)]).toEqual(["perf", "Artefact 7"]);
  });

  it("says in words what its tool did to the host", () => {
    expect(describeEffect({ effect: "heavy", tool: "strace" })).toContain("stops the process");
    expect(describeEffect({ effect: "heavy", tool: "dtrace" })).toContain("not normal in this window");
    expect(describeEffect({ effect: "none", tool: "iozone" })).toBe("");
  });

  it("is the baseline of a comparison if it is older", () => {
    const [old, young] = [
      { id: 9, start: "2026-11-22T00:00:00Z" },
      { id: 2, start: "2026-11-22T00:00:10Z" },
    ];
    expect(inTime(young, old)).toEqual([old, young]);
    expect(inTime(old, { ...young, start: old.start })).toEqual([{ ...young, start: old.start }, old]);
  });
});

// LKST's decades, as its slides print them.
const DECADES: readonly HistogramBucket[] = [0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10].map((low, place) => ({
  label: "~マイクロ秒",
  low,
  high: place === 8 ? null : place === 0 ? 1e-6 : 10 ** (place - 6),
}));

describe("a distribution", () => {
  const counts = { key: "0xc01977d1", counts: [963, 48, 11, 3, 1, 0, 0, 0, 2], total: 1028 };

  it("says where nearly all events are, and where the rest is", () => {
    expect(describeBulk(DECADES, counts, "s")).toBe("99.8 % of 1,028 below 10 ms; the other 2 at 10 s or more");
    expect(describeBulk(DECADES, { key: "", counts: [0, 5, 0, 0, 0, 0, 0, 0, 0], total: 5 }, "s")).toBe("all 5 in 1 us – 10 us");
    expect(describeBulk(DECADES, { key: "", counts: [0, 0, 0, 0, 0, 0, 0, 0, 0], total: 0 }, "s")).toBe("");
  });

  it("names buckets with their unit, and finds quantiles", () => {
    const powers = [512, 1024].map((low) => ({ label: String(low), low, high: null }));
    expect([bucketName(powers, 0, ""), bucketName(powers, 1, "")]).toEqual(["512 – 1,024", "1024"]);
    expect([bucketName(DECADES, 8, "s"), bucketName([{ label: "64 -> 127", low: 64, high: 127 }], 0, "us")]).toEqual([
      "≥ 10 s",
      "64 -> 127 us",
    ]);
    expect([quantileBucket(counts, 0.5), quantileBucket(counts, 0.99), quantileBucket({ ...counts, total: 0 }, 0.5)]).toEqual([
      0,
      2,
      null,
    ]);
  });
});

it("IOzone's table becomes a surface; what was not run is missing", () => {
  const rows = [
    ["1024", "4", 10],
    ["1024", "64", 20],
    ["2048", "64", 30],
  ].map(([size, record, value]) => ({
    ...ROW,
    key: [String(size), String(record)],
    values: [Number(value)],
    share: null,
    cumulative: null,
  }));
  expect(surfaceOf({ rows, columns: [{ ...COLUMN, key: "write" }] }, "write")).toEqual({
    sizes_kb: [1024, 2048],
    records_kb: [4, 64],
    values: [
      [10, 20],
      [null, 30],
    ],
  });
});

describe("the bars above a table", () => {
  it("have the names of its rows, without what all of them share", () => {
    const rows = LOCKS.rows.map((row) => ({ ...row, key: ["Mutex block", ...row.key.slice(1)] }));
    expect(paretoBars({ ...LOCKS, rows }, 5)).toEqual([
      { name: "libc_malloc_lock · deflate+0x29c", value: 15_126_580, width: 1, cumulative: 0.75 },
      { name: "other · main", value: 5_000_000, width: 5_000_000 / 15_126_580, cumulative: 1 },
    ]);
    expect(paretoBars(LOCKS, 1)).toHaveLength(1);
  });
});

it("says what an artefact has by the kinds of its parts", () => {
  expect(describeParts([{ kind: "table" }, { kind: "histogram" }, { kind: "table" }])).toBe("2 tables, 1 histogram");
  expect(describeParts([])).toBe("text only");
});
