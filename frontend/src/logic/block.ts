/** Decode the compact response of GET /series: shared axes become times, values stay unchanged. */

import type { SeriesAnswer } from "./api";

export type Axis = SeriesAnswer["axes"][number];

/** The points of one field of one instance in order of time; null = a gap. Series on one axis share their times. */
export interface Series {
  readonly instance: string;
  readonly field: string;
  readonly unit: string;
  readonly n_raw: number;
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
}

/** The data of a graph. */
export interface SeriesBlock extends Omit<SeriesAnswer, "axes" | "series"> {
  readonly series: readonly Series[];
}

/**
 * Return the times of an axis in epoch milliseconds: start + i * step plus all jumps so far, or the running
 * sum of its deltas.
 */
export function timesOf(axis: Axis): readonly number[] {
  return "deltas" in axis ? runningSum(axis.start_ms, axis.deltas) : steps(axis);
}

function runningSum(start: number, deltas: readonly number[]): readonly number[] {
  const times = new Array<number>(deltas.length + 1);
  let time = start;
  times[0] = time;
  for (let index = 0; index < deltas.length; index += 1) {
    time += deltas[index] ?? 0;
    times[index + 1] = time;
  }
  return times;
}

function steps({ start_ms, step_ms, n, jumps }: Exclude<Axis, { deltas: unknown }>): readonly number[] {
  const times = new Array<number>(n);
  let base = start_ms;
  let from = 0;
  for (const [index, by] of [...jumps, [n, 0] as const]) {
    for (; from < index && from < n; from += 1) {
      times[from] = base + from * step_ms;
    }
    base += by;
  }
  return times;
}

/**
 * Return the response with times and values for each series.
 * Raises: Error if a series does not fit its axis, instead of drawing it shifted
 */
export function decodeSeries({ axes, series, ...rest }: SeriesAnswer): SeriesBlock {
  const times = axes.map(timesOf);
  return {
    ...rest,
    series: series.map(({ axis, ...each }) => {
      const own = times[axis];
      if (own?.length !== each.values.length) {
        throw new Error(
          `Inconsistent response from the server: ${String(each.values.length)} values of ${each.field} ${each.instance} on an axis of ${String(own?.length)} times. Reload the page; its version may be out of date`,
        );
      }
      return { ...each, times: own };
    }),
  };
}
