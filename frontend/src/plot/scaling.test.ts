import { describe, expect, it } from "vitest";
import type { ExperimentAnalysis } from "../logic/api";
import { buildScalingFigure } from "./scaling";

const mean = (value: number) => ({
  n: 2,
  mean: value,
  low: value - 1,
  high: value + 1,
  deviation: 1,
  smallest: value,
  largest: value,
});
const ratio = (value: number) => ({ value, low: null, high: null });

const ANALYSIS: ExperimentAnalysis = {
  result: { name: "real", unit: "s", better: "lower", n_runs: 4 },
  factor: { name: "<b>threads</b>", is_numeric: true, levels: ["1", "2"] },
  variant: null,
  work: "fixed",
  base: "",
  results: [],
  factors: [],
  points: [{ run: 1, variant: "", level: "1", x: 1, value: 9, times: 1, group: null }],
  levels: [
    {
      variant: "",
      level: "1",
      x: 1,
      result: mean(8),
      times_reference: ratio(1),
      times_base: ratio(1),
      speedup: ratio(1),
      efficiency: ratio(1),
    },
    {
      variant: "",
      level: "2",
      x: 2,
      result: mean(4),
      times_reference: ratio(0.5),
      times_base: ratio(1),
      speedup: ratio(2),
      efficiency: ratio(1),
    },
  ],
  scaling: [
    {
      variant: "",
      reference: "1",
      curves: [
        {
          fit: { model: "amdahl", parameters: [], r2: 1, aicc: 1, n_runs: 4, residuals: [], peak_x: null, max_speedup: null },
          curve: [1, 2, 4].map((x) => ({ x, value: 8 / x, speedup: x, efficiency: 1 })),
        },
      ],
      refusals: [],
      best: "amdahl",
    },
  ],
  steps: [],
  left_out: [],
};

const figure = (change: Partial<Parameters<typeof buildScalingFigure>[0]> = {}) =>
  buildScalingFigure({
    analysis: ANALYSIS,
    show: "result",
    models: [],
    log: null,
    scheme: "light",
    width: 600,
    height: 400,
    xTitle: "<b>threads</b>",
    yTitle: "real (s)",
    ...change,
  });

describe("the chart of an experiment", () => {
  it("has runs, means with intervals, and the curve of the best model, pale beyond the last level", () => {
    const { data, layout } = figure();
    expect(data.map(({ uid }) => uid)).toEqual(["c0amdahl0", "c0amdahl1", "p0", "i0", "m0"]);
    expect(data[0]).toMatchObject({ x: [1, 2], y: [8, 4] });
    expect(data[1]).toMatchObject({ x: [2, 4], y: [4, 2], line: { color: "#0068a859" } });
    expect(data[3]).toMatchObject({ x: [1, 1, null, 2, 2, null], y: [7, 9, null, 3, 5, null] });
    expect(data[4]).toMatchObject({ y: [8, 4] });
    expect(layout.yaxis?.range?.[0]).toBe(0);
    expect(layout.xaxis?.ticktext).toEqual(["1", "2"]);
  });

  it("draws speed-up beside the line of proportional growth, without the runs", () => {
    const { data } = figure({ show: "speedup" });
    expect(data.find(({ uid }) => uid === "ideal")).toMatchObject({ x: [1, 2], y: [1, 2] });
    expect(data.find(({ uid }) => uid === "p0")).toMatchObject({ y: [] });
    expect(data.find(({ uid }) => uid === "m0")).toMatchObject({ y: [1, 2] });
  });

  it("draws only the models asked for, on logarithmic axes if wished", () => {
    const { data, layout } = figure({ models: ["usl"], log: "xy" });
    expect(data.some(({ uid }) => String(uid).startsWith("c0"))).toBe(false);
    expect([layout.xaxis?.type, layout.yaxis?.type]).toEqual(["log", "log"]);
  });

  it("hands no tags to Plotly, which would read them", () => {
    expect(JSON.stringify(figure().layout)).not.toContain("<b>");
  });
});
