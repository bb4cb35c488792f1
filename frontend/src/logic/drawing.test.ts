import { describe, expect, it } from "vitest";
import type { ArtefactTable } from "./api";
import { errorsByCpu, errorsByModule, hasIntervals, intervalLabels } from "./drawing";

type Table = Pick<ArtefactTable, "rows" | "columns" | "key_names">;

function table(key_names: string[], columns: string[], rows: readonly (readonly [string[], (number | null)[]])[]): Table {
  return {
    key_names,
    columns: columns.map((key) => ({
      key,
      title: key,
      unit: "events",
      kind: "count",
      worse: "higher",
      decimals: 0,
      help: "",
      is_additive: true,
    })),
    rows: rows.map(([key, values]) => ({ key, values, n_rows: 1, is_total: false, share: null, cumulative: null })),
  };
}

const EVENTS = table(
  ["CPU", "bank", "module"],
  ["events", "corrected", "uncorrected"],
  [
    [
      ["10", "8", "SOCKET 1 CHANNEL 0 DIMM 1"],
      [3, 3, 0],
    ],
    [
      ["10", "8", "CHANNEL 2"],
      [1, 0, 1],
    ],
    [
      ["2", "5", ""],
      [1, null, null],
    ],
  ],
);

describe("errors by CPU", () => {
  it("adds up the errors of one bank, in the order of the numbers", () => {
    expect(errorsByCpu(EVENTS)).toEqual({
      rows: ["2", "10"],
      columns: ["5", "8"],
      cells: [
        [{ corrected: null, uncorrected: null }, null],
        [null, { corrected: 3, uncorrected: 1 }],
      ],
    });
  });
});

describe("errors by memory module", () => {
  it("tells apart what names a module and what does not", () => {
    expect(errorsByModule(EVENTS)).toEqual({
      rows: [" 2", "1 0"],
      columns: ["", "1"],
      cells: [
        [{ corrected: 0, uncorrected: 1 }, null],
        [null, { corrected: 3, uncorrected: 0 }],
      ],
    });
  });

  it("takes the totals of the daemon's counters", () => {
    const counters = table(
      ["socket", "channel", "DIMM"],
      ["corrected_total", "corrected_24h", "uncorrected_total"],
      [
        [
          ["1", "any", "any"],
          [12, 3, null],
        ],
      ],
    );
    expect(errorsByModule(counters)).toEqual({
      rows: ["1 any"],
      columns: ["any"],
      cells: [[{ corrected: 12, uncorrected: null }]],
    });
  });

  it("is missing where no error names a module", () => {
    expect(errorsByModule({ ...EVENTS, rows: EVENTS.rows.slice(2) })).toBeNull();
  });
});

describe("reports over time", () => {
  it("are drawn where each has a time, and of perf stat", () => {
    expect(hasIntervals("perf_stat_metrics", [null, null])).toBe(true);
    expect(hasIntervals("dtrace_counts", [1, 2])).toBe(true);
    expect(hasIntervals("dtrace_counts", [1, null])).toBe(false);
    expect(hasIntervals("perf_stat", [null])).toBe(false);
    expect(hasIntervals("mcelog_events", [1, 2])).toBe(false);
  });

  it("have the time that the text has", () => {
    expect(intervalLabels({ clock: "elapsed", times: [500.619549, 2000] }, "UTC")).toEqual(["0.5 s", "2 s"]);
    expect(intervalLabels({ clock: "report", times: [1, 2] }, "UTC")).toEqual(["1", "2"]);
    expect(intervalLabels({ clock: "epoch", times: [1_795_348_801_000.3] }, "UTC")).toEqual(["12:00:01"]);
  });
});
