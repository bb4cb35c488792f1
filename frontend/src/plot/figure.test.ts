import { describe, expect, it } from "vitest";
import type { SeriesBlock } from "../logic/block";
import { toEpochMs } from "../logic/time";
import { valueAxisOf } from "./axis";
import { blend, buildPanelFigure, type PanelInput, stackLines } from "./figure";

const T0 = Date.UTC(2026, 10, 21, 9, 0, 0);

const block = (values: (number | null)[][], resolution: SeriesBlock["resolution"] = "raw", unit = "%"): SeriesBlock => ({
  host: "h",
  stat: "s",
  start: "2026-11-21T09:00:00Z",
  end: "2026-11-21T09:02:00Z",
  resolution,
  source: "raw",
  column_ms: 100,
  n_raw: 0,
  n_points: 0,
  n_instances_left_out: 0,
  series: values.map((line, index) => ({
    instance: "",
    field: `f${String(index)}`,
    unit,
    times: line.map((_, second) => T0 + second * 1000),
    values: line,
    n_raw: line.length,
  })),
});

const input = (change: Partial<PanelInput>): PanelInput => ({
  block: block([[1, 2, 3]]),
  window: { start: toEpochMs(T0), end: toEpochMs(T0 + 120_000) },
  unit: "%",
  isPercent: true,
  isLevel: false,
  isStacked: false,
  isLog: false,
  isStep: false,
  low: null,
  high: null,
  bytes: null,
  references: [],
  hidden: new Set(),
  slots: new Map(),
  zone: "UTC",
  scheme: "light",
  margins: { left: 50, right: 10, top: 20, bottom: 20 },
  width: 600,
  height: 200,
  bands: [],
  ...change,
});

/** The data of a trace, without its style. */
const points = (figure: ReturnType<typeof buildPanelFigure>) => figure.data.map(({ x, y, mode }) => ({ x, y, mode }));

describe("a panel's figure", () => {
  it("has the window as its axis, whatever the samples", () => {
    const { layout } = buildPanelFigure(input({}));
    expect(layout.xaxis?.range).toEqual([T0, T0 + 120_000]);
    // The last label would be cut at the right edge.
    expect(layout.xaxis?.ticktext).toEqual(["09:00:00", "09:00:30", "09:01:00", "09:01:30", ""]);
  });

  it("keeps gaps: nulls stay, nothing is joined", () => {
    const { data } = buildPanelFigure(input({ block: block([[1, null, 3]]) }));
    expect(data[0]).toMatchObject({ y: [1, null, 3], connectgaps: false });
  });

  it("shows a single sample between gaps", () => {
    const long = [...Array(60).keys()].map((i): number | null => (i === 30 ? 7 : i > 28 && i < 33 ? null : 1));
    const drawn = points(buildPanelFigure(input({ block: block([long]) })));
    expect(drawn[0]?.mode).toBe("lines");
    expect(drawn[1]).toEqual({ x: [T0 + 30_000], y: [7], mode: "markers" });
  });

  it("omits lines hidden in the legend", () => {
    const { data } = buildPanelFigure(input({ block: block([[1], [2]]), hidden: new Set(["f0 "]) }));
    expect(data.map(({ y }) => y)).toEqual([[2]]);
  });

  it("stacks samples of the same time, each piece between gaps separately, highest first", () => {
    const stacked = input({
      block: block([
        [10, 20, null, 40],
        [1, 2, 3, 4],
      ]),
      isStacked: true,
    });
    expect(points(buildPanelFigure(stacked)).map(({ y }) => y)).toEqual([[11, 22], [44], [10, 20], [40]]);
    expect(buildPanelFigure(stacked).data.every(({ fill }) => fill === "tozeroy")).toBe(true);
  });

  it("does not stack envelopes, whose points have different times", () => {
    const { data } = buildPanelFigure(input({ block: block([[10], [1]], "envelope"), isStacked: true }));
    expect(data.map(({ y, fill }) => [y, fill])).toEqual([
      [[10], undefined],
      [[1], undefined],
    ]);
  });

  it("does not stack fields of several instances", () => {
    const two = block([[10], [20], [30], [40]]);
    const series = two.series.map((line, index) => ({
      ...line,
      field: `f${String(index % 2)}`,
      instance: `cpu${String(index >> 1)}`,
    }));
    const { data } = buildPanelFigure(input({ block: { ...two, series }, isStacked: true }));
    expect(data.map(({ fill }) => fill)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("does not count missing values as zero", () => {
    const stroke = { color: "#000000", dash: "solid" } as const;
    const lines = [
      { uid: "s0", times: [1, 2], values: [5, null], stroke },
      { uid: "s1", times: [1, 2], values: [1, 1], stroke },
    ];
    expect(stackLines(lines).map(({ values }) => values)).toEqual([
      [5, null],
      [6, null],
    ]);
  });

  it("mixes opaque colours", () => {
    expect(blend("#ff0000", "#ffffff", 0.5)).toBe("rgb(255, 128, 128)");
  });
});

describe("a value axis", () => {
  const stroke = { color: "#000000", dash: "solid" } as const;
  const axis = (values: number[], isPercent: boolean, isLevel: boolean): readonly [number, number] => {
    const { low, high } = valueAxisOf(
      [{ uid: "s0", times: values.map((_, i) => i), values, stroke }],
      isPercent ? "%" : "KiB",
      isPercent,
      isLevel,
      160,
    );
    return [low, high];
  };

  it("starts at zero", () => {
    expect(axis([90, 95], false, false)[0]).toBe(0);
  });

  it("shows the variation of a level", () => {
    expect(axis([900, 950], false, true)[0]).toBeGreaterThan(0);
    expect(axis([100, 950], false, true)[0]).toBe(0);
  });

  it("shows the full range of a percentage close to 100, and never more", () => {
    expect(axis([3, 97], true, false)).toEqual([0, 100]);
    expect(axis([3, 100.01], true, false)).toEqual([0, 100.01]);
    expect(axis([3, 7], true, false)[1]).toBeLessThan(50);
    expect(axis([300, 390], true, false)[1]).toBeGreaterThanOrEqual(390);
  });
});

describe("the bands behind the lines", () => {
  const times = [toEpochMs(T0), toEpochMs(T0 + 60_000)];
  const bands = [{ key: "f0 ", pieces: [{ times, low: [4, 4], middle: [5, 5], high: [80, 80] }], color: "#0068a8" }];

  it("is an area and a dashed median below everything else, and fits on the axis", () => {
    const { data, layout } = buildPanelFigure(input({ bands }));
    expect(data.map(({ y, fill, line }) => [y, fill, line?.dash])).toEqual([
      [[80, 80, 4, 4], "toself", undefined],
      [[5, 5], undefined, "dash"],
      [[1, 2, 3], undefined, "solid"],
    ]);
    expect(Number(layout.yaxis?.range?.[1])).toBeGreaterThanOrEqual(80);
  });

  it("is not drawn if lines are stacked", () => {
    const { data } = buildPanelFigure(input({ bands, isStacked: true, block: block([[1], [2]]) }));
    expect(data.some(({ fill }) => fill === "toself")).toBe(false);
  });
});

describe("how a user wants it", () => {
  const wide = block([[0, 5, 2000]], "raw", "1/s");
  const rate = { block: wide, unit: "1/s", isPercent: false } as const;

  it("by powers of ten: zero is not drawn, the ends are powers", () => {
    const { layout } = buildPanelFigure(input({ ...rate, isLog: true }));
    expect(layout.yaxis?.type).toBe("log");
    expect(layout.yaxis?.range?.[0]).toBe(0);
    expect(Number(layout.yaxis?.range?.[1])).toBeCloseTo(4, 1);
    expect(layout.yaxis?.tickvals).toEqual([1, 10, 100, 1000, 10_000]);
    expect(layout.yaxis?.ticktext?.slice(0, 2)).toEqual(["1", "10"]);
    const none = buildPanelFigure(input({ ...rate, block: block([[0, 0]]), isLog: true }));
    expect(none.layout.yaxis?.type).toBe("linear");
  });

  it("between ends of the axis, of which one may follow the samples", () => {
    const fixed = buildPanelFigure(input({ ...rate, low: 100, high: 500 }));
    expect(fixed.layout.yaxis?.range?.[0]).toBe(100);
    expect(Number(fixed.layout.yaxis?.range?.[1])).toBeCloseTo(508, 0);
    const half = buildPanelFigure(input({ ...rate, high: 10 }));
    expect(half.layout.yaxis?.range?.[0]).toBe(0);
    // Nothing to draw between: as if not asked.
    expect(buildPanelFigure(input({ ...rate, low: 5000 })).layout.yaxis?.range?.[0]).toBe(0);
  });

  it("in steps, and in powers of 1024", () => {
    const { data } = buildPanelFigure(input({ ...rate, isStep: true }));
    expect(data[0]?.line?.shape).toBe("hv");
    const bytes = { ...rate, unit: "kB/s", block: block([[2048, 4096]], "raw", "kB/s") };
    expect(buildPanelFigure(input(bytes)).axisUnit).toBe("MB/s");
    expect(buildPanelFigure(input({ ...bytes, bytes: "binary" })).axisUnit).toBe("MiB/s");
  });

  it("with reference lines that do not stretch the axis", () => {
    const references = [{ value: 8, label: "8 ms: one access of a hard disk", source: "", isExpected: false }];
    const far = buildPanelFigure(input({ references }));
    expect(far.data).toHaveLength(1);
    const near = buildPanelFigure(input({ references, block: block([[1, 20]]) }));
    expect(near.data.at(-1)).toMatchObject({ y: [8, 8], text: ["", "8 ms: one access of a hard disk"] });
  });

  it("says an expected value at the edge where it is beyond the axis", () => {
    const references = [{ value: 16_000, label: "expected 16,000 /s", source: "", isExpected: true }];
    const { data } = buildPanelFigure(input({ references }));
    expect(data.at(-1)).toMatchObject({ mode: "text", text: ["expected 16,000 /s ↑"], y: [3] });
  });

  it("each line can be found by its key", () => {
    const { data, traces } = buildPanelFigure(input({ slots: new Map([["f0 ", 3]]) }));
    expect(data[0]?.uid).toBe("s3");
    expect(traces.get("f0 ")).toBe(3);
  });
});
