/** Coverage: where there are samples, for the strip above the graphs and its text. */

import type { Coverage } from "./api";
import { formatBytes } from "./number";
import { describeDuration, type EpochMs, fromApi, lengthOf, toDurationMs, toEpochMs, type Window } from "./time";
import { counted } from "./counted";

/** Return the windows in order, merging those that touch or overlap. */
export function mergeWindows(windows: readonly Window[]): readonly Window[] {
  const merged: Window[] = [];
  for (const window of [...windows].sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last !== undefined && window.start <= last.end) {
      merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, window.end) as EpochMs };
    } else {
      merged.push(window);
    }
  }
  return merged;
}

const STEP_MS = 10_000;

/** Return the window to fetch coverage for, rounded outwards to ten seconds, so that a live page does not fetch on every move. */
export function coverageWindow({ start, end }: Window): Window {
  return { start: toEpochMs(Math.floor(start / STEP_MS) * STEP_MS), end: toEpochMs(Math.ceil(end / STEP_MS) * STEP_MS) };
}

/** Return the windows in which any stat of the host has samples. */
export function coveredWindows(coverage: Coverage): readonly Window[] {
  return mergeWindows(
    coverage.stats.flatMap(({ covered }) => covered.map(({ start, end }) => ({ start: fromApi(start), end: fromApi(end) }))),
  );
}

/** Return the covered length inside the window. */
export function coveredLength(windows: readonly Window[], inside: Window): number {
  return windows.reduce((sum, { start, end }) => sum + Math.max(0, Math.min(end, inside.end) - Math.max(start, inside.start)), 0);
}

export interface CoverageText {
  readonly state: "none" | "partial" | "full";
  readonly text: string;
}

// Allowance for samples in transit and for reports that do not start exactly with the window.
const SLACK = 0.03;
const SLACK_MS = 15_000;

/** Return the coverage as text, `12 min of data in 15 min`, with the bytes that agents dropped. */
export function describeCoverage(coverage: Coverage, window: Window): CoverageText {
  const covered = coveredLength(coveredWindows(coverage), window);
  const length = lengthOf(window);
  const dropped = coverage.gaps.reduce((sum, gap) => sum + gap.n_bytes, 0);
  const gaps = dropped === 0 ? "" : `; ${formatBytes(dropped)} dropped on the host (${counted(coverage.gaps.length, "gap")})`;
  if (covered === 0) {
    return { state: "none", text: `no samples in this window${gaps}` };
  }
  const isFull = length - covered <= Math.max(SLACK_MS, length * SLACK);
  return isFull && dropped === 0
    ? { state: "full", text: `data for all of ${describeDuration(length)}` }
    : {
        state: "partial",
        text: `${describeDuration(toDurationMs(Math.round(covered / 1000) * 1000))} of data in ${describeDuration(length)}${gaps}`,
      };
}
