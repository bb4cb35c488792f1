import { describe, expect, it } from "vitest";
import type { SeriesAnswer } from "./api";
import { type Axis, decodeSeries, timesOf } from "./block";

/** A small random number generator, so that a failing case can be reproduced from its seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Realistic times of a host: steps, some of them longer or shorter. */
function randomTimes(random: () => number): readonly number[] {
  const n = Math.floor(random() * 60);
  const step = 1 + Math.floor(random() * 5_000);
  const oddity = random();
  const times: number[] = [];
  let time = Math.floor(random() * 4e12);
  for (let index = 0; index < n; index += 1) {
    times.push(time);
    time += random() < oddity ? Math.floor(random() * 90_000) : step;
  }
  return times;
}

/** The same times as an axis with jumps, in the server's encoding. */
function stepped(times: readonly number[], step_ms: number): Axis {
  const jumps = times.flatMap((time, index): [number, number][] => {
    const by = index === 0 ? 0 : time - times[index - 1]! - step_ms;
    return by === 0 ? [] : [[index, by]];
  });
  return { start_ms: times[0] ?? 0, step_ms, n: times.length, jumps };
}

const answer = (axes: Axis[], series: SeriesAnswer["series"]): SeriesAnswer => ({
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
  axes,
  series,
});

describe("an axis", () => {
  it("decodes to its original times in every encoding", () => {
    for (let seed = 0; seed < 300; seed += 1) {
      const random = randomFrom(seed);
      const times = randomTimes(random);
      expect(timesOf(stepped(times, Math.floor(random() * 5_000))), `seed ${String(seed)}`).toEqual(times);
      if (times.length > 0) {
        const deltas = times.slice(1).map((time, index) => time - times[index]!);
        expect(timesOf({ start_ms: times[0]!, deltas }), `seed ${String(seed)}`).toEqual(times);
      }
    }
  });

  it("adds up jumps, including one at the first index", () => {
    const jumps = [
      [0, 5],
      [2, 60],
      [2, 1],
    ] satisfies [number, number][];
    expect(timesOf({ start_ms: 100, step_ms: 10, n: 4, jumps })).toEqual([105, 115, 186, 196]);
  });

  it("may be empty", () => {
    expect(timesOf({ start_ms: 0, step_ms: 0, n: 0, jumps: [] })).toEqual([]);
  });
});

describe("an answer", () => {
  const values = [1, null, 3];
  const one = { instance: "", field: "us", unit: "%", n_raw: 3, axis: 0, values };

  it("gives each series its times and keeps its gaps", () => {
    const axes: Axis[] = [
      { start_ms: 0, step_ms: 10, n: 3, jumps: [] },
      { start_ms: 5, deltas: [] },
    ];
    const block = decodeSeries(answer(axes, [one, { ...one, field: "sy", axis: 1, values: [7] }, { ...one, field: "id" }]));
    expect(block.series.map(({ field, times, values }) => [field, times, values])).toEqual([
      ["us", [0, 10, 20], [1, null, 3]],
      ["sy", [5], [7]],
      ["id", [0, 10, 20], [1, null, 3]],
    ]);
    expect(block.series[0]!.times).toBe(block.series[2]!.times);
    expect(block).not.toHaveProperty("axes");
  });

  it("that is inconsistent is not drawn", () => {
    const axes: Axis[] = [{ start_ms: 0, step_ms: 10, n: 2, jumps: [] }];
    expect(() => decodeSeries(answer(axes, [one]))).toThrow(/3 values of us {2}on an axis of 2 times/);
    expect(() => decodeSeries(answer([], [one]))).toThrow(/undefined times/);
  });
});
