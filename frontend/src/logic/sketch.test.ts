import { describe, expect, it } from "vitest";
import { madeFinding, madeSideValues } from "./comparison_fixture";
import { buildOverlay, buildSketch, columnsPath, HEIGHT, shareUpTo, sharesOf, WIDTH } from "./sketch";

const EMPTY = { n: 0, mean: null, median: null, p5: null, p95: null, p99: null, lowest: null, highest: null, quantiles: null };
const plain = (value: number): number => value;

describe("a small graph", () => {
  it("joins adjacent columns and leaves gaps open", () => {
    const path = columnsPath({ low: [1, 2, null, 3], high: [5, 6, null, 7] }, plain);
    expect(path).toBe("M40 5L120 6L120 2L40 1ZM240 7L320 7L320 3L240 3Z");
    expect(columnsPath({ low: [null], high: [null] }, plain)).toBe("");
  });

  it("has one axis for both sides, the band and the line", () => {
    const finding = madeFinding({
      baseline: madeSideValues(10, 10),
      incident: madeSideValues(90, 10),
      sparkline: { start_ms: 0, end_ms: 1000, low: [80, 90], high: [85, 100], baseline: null },
    });
    const sketch = buildSketch(finding, "%");
    expect(sketch.ticks[0]).toEqual({ y: HEIGHT, label: "0" });
    expect(sketch.ticks.at(-1)?.label).toBe("100");
    expect(sketch.median).toBeCloseTo(90);
    expect(sketch.band?.top).toBeLessThan(sketch.band?.bottom ?? 0);
    expect(sketch.baseline).toBe("");
    expect(sketch.incident).toContain(` 0L`);
    expect(sketch.incident.startsWith(`M${String(WIDTH / 4)} `)).toBe(true);
  });

  it("shows the full range of a percentage close to 100, and no more", () => {
    const high = (value: number) => {
      const finding = madeFinding({ baseline: madeSideValues(2, 1), incident: { ...madeSideValues(97, 4), highest: value } });
      return buildSketch(finding, "%").ticks.at(-1);
    };
    expect(high(99.9)).toEqual({ y: 0, label: "100" });
    expect(high(101)?.y).toBeGreaterThan(0);
  });

  it("starts at zero if rounding would make it negative", () => {
    const finding = madeFinding({ baseline: { ...madeSideValues(2, 1), lowest: -1.5e-9 }, incident: madeSideValues(40, 4) });
    expect(buildSketch(finding, "ms").ticks[0]).toEqual({ y: HEIGHT, label: "0" });
  });

  it("shows the variation of a level far from zero", () => {
    const sketch = buildSketch(madeFinding({ baseline: madeSideValues(1000, 20), incident: madeSideValues(1040, 20) }), "KiB");
    expect(sketch.ticks[0]?.label).not.toBe("0");
  });

  it("draws no band where the baseline has no samples, and never a zero", () => {
    const sketch = buildSketch(madeFinding({ baseline: EMPTY, incident: madeSideValues(5, 1) }), "");
    expect([sketch.band, sketch.median, sketch.distribution.baseline]).toEqual([null, null, ""]);
    expect(sketch.distribution.incident).not.toBe("");
    expect(sketch.note).toBe("no samples in the baseline");
  });

  it("keeps the band of what is gone, and says so", () => {
    const sketch = buildSketch(madeFinding({ baseline: madeSideValues(5, 1), incident: EMPTY }), "");
    expect(sketch.note).toBe("no samples in the incident");
    expect([sketch.band === null, sketch.incident, sketch.distribution.incident]).toEqual([false, "", ""]);
    expect(buildSketch(madeFinding({}), "").note).toBe("");
  });

  it("can be empty", () => {
    const sketch = buildSketch(madeFinding({ baseline: EMPTY, incident: EMPTY }), "");
    expect(sketch.ticks.length).toBeGreaterThan(0);
    expect(sketch.incident).toBe("");
  });
});

describe("a distribution", () => {
  it("is derived from its quantiles", () => {
    expect([-1, 0, 2.5, 5, 10, 11].map((value) => shareUpTo([0, 5, 10], value))).toEqual([0, 0, 0.25, 0.5, 1, 1]);
    expect(shareUpTo([0, 0, 0, 0, 8], 0)).toBe(0.75);
    expect(shareUpTo([], 1)).toBe(0);
  });

  it("keeps every sample in some bin, even if most have one value", () => {
    for (const quantiles of [[0, 0, 0, 0, 8], [8, 8, 8], [0, 2, 4, 6, 8], [3]]) {
      const shares = sharesOf(quantiles, 0, 8, 4);
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1);
      expect(shares.every((share) => share >= 0)).toBe(true);
    }
    expect(sharesOf([0, 0, 0, 0, 8], 0, 8, 4)[0]).toBeGreaterThan(0.75);
  });
});

describe("two distributions over one axis", () => {
  it("stand apart where the values do; a side without samples has no outline", () => {
    const { baseline, incident, low, high } = buildOverlay(
      madeFinding({ baseline: madeSideValues(10, 10), incident: madeSideValues(90, 10) }),
      "%",
    );
    expect([low, high]).toEqual(["0", "100 %"]);
    const xOfTop = (path: string): number => {
      const steps = [...path.matchAll(/V([\d.]+)H([\d.]+)/g)].map(([, y, x]) => [Number(y), Number(x)] as const);
      return steps.reduce((best, step) => (step[0] < best[0] ? step : best))[1];
    };
    expect(xOfTop(baseline)).toBeLessThan(WIDTH / 4);
    expect(xOfTop(incident)).toBeGreaterThan((3 * WIDTH) / 4);
    expect(buildOverlay(madeFinding({ baseline: EMPTY }), "%").baseline).toBe("");
  });
});
