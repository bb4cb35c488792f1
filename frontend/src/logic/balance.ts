/** CPUs by time: how busy each is, and how unevenly the work is spread over them. */

import type { CpuBalance } from "./api";
import type { Columns, Distribution } from "./histogram";
import { formatValue } from "./number";
import { lowerBound } from "./series";
import { type EpochMs, SECOND, toEpochMs, type Window } from "./time";

/** Return the window to request, in whole steps of a cell: a live page asks again when a cell is full, not every second. */
export function balanceWindow(window: Window, nCells: number): Window {
  const step = Math.max(SECOND, Math.ceil((window.end - window.start) / Math.max(1, nCells) / SECOND) * SECOND);
  return { start: toEpochMs(Math.floor(window.start / step) * step), end: toEpochMs(Math.ceil(window.end / step) * step) };
}

/** Return the CPUs as rows of a heatmap, and its columns: the steps, also those without samples. Missing: null without samples. */
export function balanceRows(balance: CpuBalance): { readonly distribution: Distribution; readonly columns: Columns } | null {
  const { starts, step_ms, cpus, busy } = balance;
  const [first, last] = [starts[0], starts.at(-1)];
  if (first === undefined || last === undefined || step_ms <= 0) {
    return null;
  }
  const buckets = cpus.map((label, place) => ({ label, series: { times: starts, values: busy[place] ?? [] } }));
  return {
    distribution: { key: "busy", buckets },
    columns: { start_ms: first, step_ms, n: Math.round((last - first) / step_ms) + 1 },
  };
}

/** The CPUs in one step. */
export interface BalanceMoment {
  readonly start: EpochMs;
  readonly mean: number;
  /** Null where it is undefined. */
  readonly imbalance: number | null;
  readonly cpu: string;
  /** The busy share of the busiest CPU. */
  readonly busy: number;
}

function momentOf(balance: CpuBalance, place: number): BalanceMoment | null {
  const start = balance.starts[place];
  let [cpu, busy] = ["", -1];
  for (const [row, name] of balance.cpus.entries()) {
    const value = balance.busy[row]?.[place] ?? null;
    if (value !== null && value > busy) {
      [cpu, busy] = [name, value];
    }
  }
  return start === undefined || busy < 0
    ? null
    : { start: toEpochMs(start), mean: balance.mean[place] ?? 0, imbalance: balance.imbalance[place] ?? null, cpu, busy };
}

/** Return the step that holds an instant. Missing: null outside, and where there are no samples. */
export function momentAt(balance: CpuBalance, at: EpochMs): BalanceMoment | null {
  const place = lowerBound(balance.starts, at + 1) - 1;
  const moment = momentOf(balance, place);
  return moment !== null && at < moment.start + balance.step_ms ? moment : null;
}

/** Return the step with the largest imbalance. Missing: null where it is never defined. */
export function worstMoment(balance: CpuBalance): BalanceMoment | null {
  let worst = -1;
  for (const [place, value] of balance.imbalance.entries()) {
    if (value !== null && (worst < 0 || value > (balance.imbalance[worst] ?? 0))) {
      worst = place;
    }
  }
  return worst < 0 ? null : momentOf(balance, worst);
}

/** Return a step as text: `imbalance 200 %, busiest CPU 10 at 90 %, mean 30 %`. */
export function describeMoment({ imbalance, cpu, busy, mean }: BalanceMoment): string {
  const share = (value: number): string => `${formatValue(value, 0)} %`;
  const index = imbalance === null ? "imbalance undefined (CPUs below 5 % busy, or only one)" : `imbalance ${share(imbalance)}`;
  return `${index}; busiest CPU ${cpu} at ${share(busy)}, mean ${share(mean)}`;
}

/** Return the runs of the imbalance line: neighbouring steps in which it is defined, each with the middle of its step. */
export function imbalanceRuns({ starts, step_ms, imbalance }: CpuBalance): readonly (readonly (readonly [number, number])[])[] {
  const runs: [number, number][][] = [];
  let before: number | null = null;
  for (const [place, start] of starts.entries()) {
    const value = imbalance[place] ?? null;
    if (value === null) {
      before = null;
      continue;
    }
    if (before === null || start - before > step_ms) {
      runs.push([]);
    }
    runs.at(-1)?.push([start + step_ms / 2, value]);
    before = start;
  }
  return runs;
}

// A line that stays below is flat: the CPUs are about evenly busy.
const MIN_SCALE = 100;

/** The imbalance line as points of polylines, and the value at the top of its scale, in percent. */
export interface ImbalanceDrawing {
  readonly paths: readonly string[];
  readonly top: number;
}

/** Return the line in a height of pixels; `xOf` gives the pixel of an instant, null outside the window. */
export function drawImbalance(balance: CpuBalance, height: number, xOf: (at: EpochMs) => number | null): ImbalanceDrawing {
  const top = Math.max(MIN_SCALE, Math.ceil(worstMoment(balance)?.imbalance ?? 0));
  const [bottom, reach] = [height - 1, height - 3];
  const paths = imbalanceRuns(balance).map((run) =>
    run
      .flatMap(([at, value]) => {
        const x = xOf(toEpochMs(at));
        return x === null ? [] : [`${x.toFixed(1)},${(bottom - (value / top) * reach).toFixed(1)}`];
      })
      .join(" "),
  );
  return { paths: paths.filter((path) => path !== ""), top };
}

/** Return the start of the step after (1) or before (-1) an instant, or else the last or first one; null without steps. */
export function nextStep({ starts }: Pick<CpuBalance, "starts">, at: EpochMs | null, direction: -1 | 1): EpochMs | null {
  const place =
    at === null
      ? direction > 0
        ? 0
        : starts.length - 1
      : direction > 0
        ? lowerBound(starts, at + 1)
        : lowerBound(starts, at) - 1;
  const start = starts[Math.min(starts.length - 1, Math.max(0, place))];
  return start === undefined ? null : toEpochMs(start);
}
