import { describe, expect, it } from "vitest";
import type { BandStep } from "./api";
import { bandPieces, describeBands, bandedSeries, bandWindow } from "./band";
import { toEpochMs } from "./time";

const window = (start: number, end: number) => ({ start: toEpochMs(start), end: toEpochMs(end) });
const step = (start_ms: number, end_ms: number, level: number): BandStep => ({
  start_ms,
  end_ms,
  p5: level - 1,
  p50: level,
  p95: level + 1,
  n: 60,
});

describe("the band behind a graph", () => {
  it("has one piece per step, clipped to the window; gaps stay gaps", () => {
    const pieces = bandPieces([step(0, 100, 5), step(100, 200, 7), step(300, 400, 9), step(400, 500, 1)], window(50, 350));
    expect(pieces).toEqual([
      { times: [50, 100, 100, 200], low: [4, 4, 6, 6], middle: [5, 5, 7, 7], high: [6, 6, 8, 8] },
      { times: [300, 350], low: [8, 8], middle: [9, 9], high: [10, 10] },
    ]);
    expect(bandPieces([], window(0, 1))).toEqual([]);
  });

  it("is requested in windows that stay the same while a live window moves", () => {
    expect(bandWindow(window(1_050, 1_150))).toEqual(window(1_000, 1_200));
    expect(bandWindow(window(1_060, 1_160))).toEqual(window(1_000, 1_200));
    expect(bandWindow(window(1_000, 1_100))).toEqual(window(1_000, 1_100));
  });

  it("is drawn for every visible line, up to sixteen", () => {
    const series = Array.from({ length: 30 }, (_, index) => ({ key: String(index) }));
    expect(bandedSeries(series.slice(0, 9), new Set(["0"])).length).toBe(8);
    expect(bandedSeries(series, new Set(["0"])).map(({ key }) => key)).toEqual(series.slice(1, 17).map(({ key }) => key));
  });

  it("names its baseline, or says why there is no band", () => {
    expect(describeBands("Quiet", 2, 5, [])).toBe("band of “Quiet”: p5 to p95, median, of the first 2 lines");
    expect(describeBands("Quiet", 1, 1, [])).toBe("band of “Quiet”: p5 to p95, median");
    expect(describeBands("Quiet", 0, 1, ["no samples then"])).toBe("no band of “Quiet”: no samples then");
    expect(describeBands("Quiet", 0, 1, [])).toBe("band of “Quiet” …");
  });
});
