/** The compact answer of GET /series taken apart: axes that several series share become times, values stay as they came. */

import type { SeriesAnswer } from "./api";

export type Axis = SeriesAnswer["axes"][number];

/** Points of one field of one instance in order of time; null = a gap. Series on one axis share their times. */
export interface Series {
  readonly instance: string;
  readonly field: string;
  readonly unit: string;
  readonly n_raw: number;
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
}

/** What a graph is given. */
export interface SeriesBlock extends Omit<SeriesAnswer, "axes" | "series"> {
  readonly series: readonly Series[];
}

/** The times of an axis, in epoch milliseconds: start + i * step and all jumps so far, or the running sum of its deltas. */
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
 * The answer with times and values for each series.
 * Raises: Error where a series does not fit its axis: it is said, never drawn shifted
 */
export function decodeSeries({ axes, series, ...rest }: SeriesAnswer): SeriesBlock {
  const times = axes.map(timesOf);
  return {
    ...rest,
    series: series.map(({ axis, ...each }) => {
      const own = times[axis];
      if (own?.length !== each.values.length) {
        const found = `${String(each.values.length)} values of ${each.field} ${each.instance} on an axis of ${String(own?.length)} times`;
        throw new Error(`The server's answer does not fit together: ${found}; reload the page, it may be of another version`);
      }
      return { ...each, times: own };
    }),
  };
}
