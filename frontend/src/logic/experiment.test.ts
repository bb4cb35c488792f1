import { describe, expect, it } from "vitest";
import type { ExperimentAnalysis, ExperimentRun, RunLevel, ScalingFit } from "./api";
import {
  describeFit,
  describeResiduals,
  extremeOf,
  formatFactors,
  formatInterval,
  formatPercent,
  formatResultLines,
  formatTimes,
  leadOf,
  longerOf,
  parseFactorLines,
  parseResultLines,
  windowOfRun,
} from "./experiment";

const fit = (model: ScalingFit["model"], change: Partial<ScalingFit> = {}): ScalingFit => ({
  model,
  parameters: [],
  r2: 0.99,
  aicc: -10,
  n_runs: 9,
  residuals: [
    { x: 1, residual_pct: 0 },
    { x: 4, residual_pct: 1 },
  ],
  peak_x: null,
  max_speedup: null,
  ...change,
});

const level = (name: string, mean: number, speedup: number): RunLevel => ({
  variant: "",
  level: name,
  x: Number(name),
  result: { n: 3, mean, low: mean, high: mean, deviation: 0, smallest: mean, largest: mean },
  times_reference: null,
  times_base: null,
  speedup: { value: speedup, low: null, high: null },
  efficiency: null,
});

const LEVELS = [level("1", 8, 1), level("2", 4.04, 1.98), level("4", 4, 2)];

const run = (change: Partial<ExperimentRun>): ExperimentRun => ({
  id: 1,
  experiment: 1,
  host: "web1",
  start: "2026-11-22T10:00:00Z",
  end: "2026-11-22T10:00:08Z",
  factors: {},
  command: "",
  exit_status: 0,
  note: "",
  excluded_reason: "",
  left_out: "",
  source: "cli",
  author: "",
  results: [],
  n_measured: 0,
  artefacts: [],
  ...change,
});

describe("what a model says", () => {
  it("names the level at which something is full", () => {
    const knee = fit("bottleneck", {
      parameters: [{ name: "knee", value: 1.98, low: 1.9, high: 2.05 }],
      peak_x: 1.98,
      max_speedup: 1.98,
    });
    expect(describeFit(knee, "workers", LEVELS)).toEqual({
      text: "Full at workers=2: 1.98 times as fast as the reference; more adds nothing",
      detail: "Knee at 1.98 (95 % interval 1.9 – 2.05). R² 0.99, 9 runs.",
      tone: "limit",
    });
    expect(describeFit(fit("bottleneck"), "workers", LEVELS).text).toBe("No limit up to workers=4: it scales linearly");
  });

  it("says the serial share and how much faster it can get", () => {
    const amdahl = fit("amdahl", { parameters: [{ name: "alpha", value: 0.12, low: 0.1, high: 0.14 }], max_speedup: 8.333 });
    expect(describeFit(amdahl, "threads", LEVELS).text).toBe("12 % serial: at most 8.33 times as fast");
    const open = fit("amdahl", { parameters: [{ name: "alpha", value: 0.001, low: 0, high: 0.02 }], max_speedup: 1000 });
    expect(describeFit(open, "threads", LEVELS)).toMatchObject({
      text: "No limit seen up to threads=4: the serial share is below 2 %",
      tone: "good",
    });
  });

  it("says where more makes it slower, and what a power means", () => {
    const parameters = [
      { name: "alpha", value: 0.0277, low: null, high: null },
      { name: "beta", value: 0.000104, low: null, high: null },
    ];
    const usl = fit("usl", { parameters, peak_x: 96.52, max_speedup: 20.9 });
    expect(describeFit(usl, "load", []).text).toBe("Fastest with load=96.5 (20.9 times as fast as 1); more makes it slower");
    const power = fit("power", { parameters: [{ name: "slope", value: 2, low: 1.9, high: 2.1 }] });
    expect(describeFit(power, "size", []).text).toBe("Grows with size to the power 2: doubling size costs 4.00 times as much");
  });

  it("says why there is no model", () => {
    const analysis = { levels: LEVELS, factor: null } as unknown as ExperimentAnalysis;
    const refusals = [{ model: "amdahl" as const, reason: "Amdahl's law needs runs at 3 levels or more; there are 2" }];
    expect(leadOf(analysis, { variant: "", reference: "1", curves: [], refusals, best: null }).text).toBe(refusals[0]?.reason);
  });

  it("names the factor 47 between two versions", () => {
    const levels = [level("reference", 9.632, 1), level("first", 452.73, 1)];
    const factor = { name: "version", is_numeric: false, levels: ["first", "reference"] };
    const result = { name: "real", unit: "s", better: "lower", n_runs: 2 };
    expect(extremeOf({ levels, factor, result } as unknown as ExperimentAnalysis)).toBe(
      "real of first is 47.0 times that of reference",
    );
    expect(extremeOf({ levels, factor: { ...factor, is_numeric: true }, result } as unknown as ExperimentAnalysis)).toBeNull();
  });
});

describe("numbers and lines", () => {
  it("formats them, and missing ones as a dash", () => {
    expect([formatTimes(47), formatTimes(null), formatInterval(null, null), formatInterval(1, 2)]).toEqual([
      "×47.0",
      "–",
      "–",
      "1 – 2",
    ]);
    expect([formatPercent(0.985), formatPercent(null)]).toEqual(["98.5 %", "–"]);
  });

  it("reads what it writes, and says which line it cannot", () => {
    const factors = { threads: "4", command: "a=b" };
    expect(parseFactorLines(formatFactors(factors))).toEqual(factors);
    expect(parseFactorLines("threads=4\nnothing\n")).toBe("nothing");
    const results = [
      { name: "p95 latency", value: 2.5, unit: "ms" },
      { name: "count", value: 1e7, unit: "" },
    ];
    expect(parseResultLines(formatResultLines(results))).toEqual(results);
    expect(parseResultLines("tps=fast")).toBe("tps=fast");
  });

  it("has a window only where the end is known and later", () => {
    expect(windowOfRun(run({ end: null }))).toBeNull();
    expect(windowOfRun(run({ end: "2026-11-22T10:00:00Z" }))).toBeNull();
    expect(longerOf(run({}), run({ end: "2026-11-22T10:00:03Z" }))).toBe(8000);
    expect(longerOf(run({ end: "2026-11-22T10:00:00.25Z" }), run({ end: null }))).toBe(1000);
    expect(describeResiduals(fit("usl"))).toBe("1: +0.00 %, 4: +1.00 %");
    expect(longerOf(run({ end: null }), run({ end: null }))).toBeNull();
  });
});
