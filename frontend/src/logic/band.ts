/** The band behind a line: p5 to p95 and median of a baseline, in steps of time. */

import type { BandStep } from "./api";
import { type EpochMs, lengthOf, toEpochMs, type Window } from "./time";

/** The bands of more lines would be one area; more instances are drawn as a heatmap. */
export const MAX_BANDS = 16;

/** The series whose bands are drawn: the first visible ones. */
export function bandedSeries<S extends { readonly key: string }>(
  series: readonly S[],
  hidden: ReadonlySet<string>,
  maxLines = MAX_BANDS,
): readonly S[] {
  return series.filter(({ key }) => !hidden.has(key)).slice(0, maxLines);
}

/** The window to request: it moves in steps of its length, so that a live graph does not send a request every second. */
export function bandWindow(window: Window): Window {
  const length = Math.max(1, lengthOf(window));
  return {
    start: toEpochMs(Math.floor(window.start / length) * length),
    end: toEpochMs(Math.ceil(window.end / length) * length),
  };
}

/** One piece of a band without a gap inside: two points for each step, as times with their values. */
export interface BandPiece {
  readonly times: readonly EpochMs[];
  readonly low: readonly number[];
  readonly middle: readonly number[];
  readonly high: readonly number[];
}

interface Draft {
  readonly times: EpochMs[];
  readonly low: number[];
  readonly middle: number[];
  readonly high: number[];
}

/** The pieces of a band inside a window. */
export function bandPieces(steps: readonly BandStep[], window: Window): readonly BandPiece[] {
  const pieces: Draft[] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const step of steps) {
    const from = toEpochMs(Math.max(step.start_ms, window.start));
    const to = toEpochMs(Math.min(step.end_ms, window.end));
    if (to <= from) {
      continue;
    }
    let piece = pieces.at(-1);
    if (piece === undefined || from > end) {
      piece = { times: [], low: [], middle: [], high: [] };
      pieces.push(piece);
    }
    piece.times.push(from, to);
    piece.low.push(step.p5, step.p5);
    piece.middle.push(step.p50, step.p50);
    piece.high.push(step.p95, step.p95);
    end = to;
  }
  return pieces;
}

/** The legend of the bands: how many lines have one, or why none has. */
export function describeBands(name: string, nDrawn: number, nLines: number, reasons: readonly string[]): string {
  if (nDrawn === 0) {
    return reasons[0] === undefined ? `band of “${name}” …` : `no band of “${name}”: ${reasons[0]}`;
  }
  const of = nLines > nDrawn ? `, of the first ${nDrawn === 1 ? "line" : `${String(nDrawn)} lines`}` : "";
  return `band of “${name}”: p5 to p95, median${of}`;
}
