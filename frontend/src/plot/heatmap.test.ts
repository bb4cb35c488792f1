import { describe, expect, it } from "vitest";
import { toEpochMs } from "../logic/time";
import { buildHeatmapFigure } from "./heatmap";

const margins = { left: 10, right: 10, top: 0, bottom: 0 };

describe("a heatmap", () => {
  const distribution = {
    key: "@usecs",
    buckets: [
      { label: "[1, 2)", series: { times: [0, 60], values: [1, 0] } },
      { label: "[2, 4)", series: { times: [0, 60], values: [1000, null] } },
    ],
  };
  const figure = buildHeatmapFigure({
    distribution,
    window: { start: toEpochMs(0), end: toEpochMs(120) },
    zone: "UTC",
    scheme: "light",
    margins,
    width: 28,
    height: 100,
  });
  const trace = figure.data[0] as unknown as { z: (number | null)[][]; zmax: number; x: number[]; y: number[] };

  it("has decades as colours, and no cell where nothing was counted", () => {
    expect(trace.z).toEqual([
      [0, null],
      [3, null],
    ]);
    expect(trace.zmax).toBe(3);
  });

  it("has edges around its cells and a label for each bucket", () => {
    expect(trace.x).toEqual([0, 60, 120]);
    expect(trace.y).toEqual([-0.5, 0.5, 1.5]);
    expect(figure.layout.yaxis?.ticktext).toEqual(["[1, 2)", "[2, 4)"]);
  });
});
