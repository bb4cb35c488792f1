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
    scale: { kind: "decades" },
    pick: "highest",
    columns: null,
    window: { start: toEpochMs(0), end: toEpochMs(120) },
    zone: "UTC",
    scheme: "light",
    margins,
    width: 28,
    height: 100,
  });
  const trace = figure.data[0] as unknown as { z: (number | null)[][]; zmax: number; x: number[]; y: number[] };

  it("has a colour scale by decades, and no cell without counts", () => {
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

  it("of values starts at zero, keeps zeros, and shows the full range of a percentage", () => {
    const cpus = { key: "usr", buckets: [{ label: "0", series: { times: [0, 60], values: [0, 90] } }] };
    const built = buildHeatmapFigure({
      distribution: cpus,
      scale: { kind: "values", unit: "%" },
      pick: "highest",
      columns: null,
      window: { start: toEpochMs(0), end: toEpochMs(120) },
      zone: "UTC",
      scheme: "dark",
      margins,
      width: 1020,
      height: 100,
    });
    const cells = built.data[0] as unknown as typeof trace;
    // One column per sample, although 250 would fit: no stripes between samples.
    expect(cells.z).toEqual([[0, 90]]);
    expect(cells.zmax).toBe(100);
  });

  it("of latencies has a logarithmic scale, with the reference in the middle of the colours", () => {
    const disks = { key: "r_await_ms", buckets: [{ label: "sda", series: { times: [0, 60], values: [0, 900] } }] };
    const draw = (reference: number | null, values: readonly number[]) => {
      const built = buildHeatmapFigure({
        distribution: { ...disks, buckets: [{ label: "sda", series: { times: [0, 60], values } }] },
        scale: { kind: "logarithm", unit: "ms", reference },
        pick: "highest",
        columns: null,
        window: { start: toEpochMs(0), end: toEpochMs(120) },
        zone: "UTC",
        scheme: "light",
        margins,
        width: 1020,
        height: 100,
      });
      return built.data[0] as unknown as typeof trace & {
        zmin: number;
        colorscale: [number, string][];
        colorbar: { tickvals: number[]; ticktext: string[] };
      };
    };
    const cells = draw(8, [0.1, 800]);
    expect(cells.z[0]).toEqual([-1, Math.log10(800)]);
    expect([cells.zmin, cells.zmax]).toEqual([-1, 3]);
    // 8 ms is at (log10(8) + 1) / 4 of the scale, and has the middle colour.
    expect(cells.colorscale[2]?.[0]).toBeCloseTo((Math.log10(8) + 1) / 4);
    expect(cells.colorscale.map(([place]) => place)).toEqual([...cells.colorscale.map(([place]) => place)].sort());
    expect(cells.colorbar.ticktext).toContain("◄ 8 ms");
    expect(cells.colorbar.tickvals).toEqual([...cells.colorbar.tickvals].sort((a, b) => a - b));
    // Zero has no logarithm: it is as pale as the lowest.
    expect(draw(8, [0, 800]).z[0]).toEqual([draw(8, [0, 800]).zmin, Math.log10(800)]);
    // Without any positive value the scale is that of values.
    expect(draw(null, [0, 0]).z).toEqual([[0, 0]]);
  });
});
