/** The scores of a host by the continuous comparison: when which subsystem was unusual, and by what. */

import type { ScoreHistory } from "./api";
import { type EpochMs, toEpochMs, type Window } from "./time";

const scoresRollingUntil = (name: string) => `normal here: the host's last days, until the baseline ${name} has a profile`;

const scoresEarlierInstead = (name: string) => `normal here: an earlier baseline, until ${name} has a profile`;

/** From these anomaly scores on, a step has the levels 1, 2 and 3. */
export const SCORE_LEVELS = [0.2, 0.4, 0.6] as const;
// The steps are shown by the five minutes before the end of each.
const SHOWN_MINUTES = 5;
const MINUTE_MS = 60_000;

export interface UnusualRun {
  readonly window: Window;
  /** 1 to 3, that of the highest step. */
  readonly level: number;
  readonly score: number;
  /** What was highest, in a sentence. */
  readonly sentence: string | null;
}

export interface ScoreRow {
  readonly subsystem: string;
  readonly score: number;
  readonly runs: readonly UnusualRun[];
}

export function scoreLevel(score: number): number {
  return SCORE_LEVELS.filter((least) => score >= least).length;
}

/** Return a row for each subsystem that was unusual, the highest score first; steps of different levels are runs of their own. */
export function scoreRows(history: ScoreHistory): readonly ScoreRow[] {
  const place = history.window_minutes.indexOf(SHOWN_MINUTES);
  return history.subsystems
    .map((subsystem, at) => toRow(history, subsystem, (scores) => scores[place]?.[at] ?? 0))
    .filter(({ runs }) => runs.length > 0)
    .sort((a, b) => b.score - a.score);
}

function toRow(
  history: ScoreHistory,
  subsystem: string,
  scoreOf: (scores: readonly (readonly (number | null)[])[]) => number,
): ScoreRow {
  const runs: UnusualRun[] = [];
  for (const step of history.steps) {
    const score = scoreOf(step.scores);
    const level = scoreLevel(score);
    if (level === 0) {
      continue;
    }
    const found = step.findings.find((finding) => finding.subsystem === subsystem);
    const run = { window: windowOf(step.start_ms, history.step_ms), level, score, sentence: found?.sentence ?? null };
    const last = runs.at(-1);
    if (last?.level === level && last.window.end === run.window.start) {
      runs[runs.length - 1] = joined(last, run);
    } else {
      runs.push(run);
    }
  }
  return { subsystem, score: Math.max(0, ...runs.map(({ score }) => score)), runs };
}

function joined(one: UnusualRun, other: UnusualRun): UnusualRun {
  const top = other.score > one.score && other.sentence !== null ? other : one;
  return { ...top, score: Math.max(one.score, other.score), window: { start: one.window.start, end: other.window.end } };
}

function windowOf(startMs: number, stepMs: number): Window {
  return { start: toEpochMs(startMs), end: toEpochMs(startMs + stepMs) };
}

/** Return the whole time around a run in which its subsystem was unusual, at whatever level: what a person would compare. */
export function spellOf(row: ScoreRow, run: UnusualRun): Window {
  let { start, end } = run.window;
  for (const other of [...row.runs].reverse()) {
    start = other.window.end === start ? other.window.start : start;
  }
  for (const other of row.runs) {
    end = other.window.start === end ? other.window.end : end;
  }
  return { start, end };
}

/** Return the run of a row with the highest score. */
export function topRun({ runs: [first, ...others] }: ScoreRow): UnusualRun | undefined {
  return others.reduce((best, run) => (best !== undefined && run.score > best.score ? run : best), first);
}

/** Return how many series were judged at most. Missing: null without scores */
export function countJudged(history: ScoreHistory): number | null {
  return history.steps.length === 0 ? null : Math.max(...history.steps.map(({ n_judged }) => n_judged));
}

/** Return what the host is compared with, or why with nothing. Missing: "" for a person's baseline, and where there is none */
export function describeScoreNormal(normal: ScoreHistory["normal"]): string {
  if (normal.unbuilt !== null) {
    return (normal.kind === "rolling" ? scoresRollingUntil : scoresEarlierInstead)(normal.unbuilt);
  }
  if (normal.kind === "rolling") {
    return normal.too_short === null
      ? "normal here: the host's last days, because no baseline was marked"
      : `normal here: the host's last days, because the baseline ${normal.too_short} is shorter than 8 minutes`;
  }
  const short = normal.too_short === null ? "" : `the baseline ${normal.too_short} is shorter than 8 minutes, too short for this`;
  const text = {
    baseline: "",
    building: "Not compared yet: the profile of normal behaviour is being built",
    learning: `Learning normal behaviour: ${String(Math.floor(normal.recorded_h ?? 0))} of ${String(normal.needed_h)} h`,
    none: "",
  }[normal.kind];
  return [text, short].filter(Boolean).join(" · ");
}

/** Return the window to fetch scores for, rounded outwards to minutes, so that a live page does not fetch on every move. */
export function scoresWindow({ start, end }: Window): Window {
  return {
    start: (Math.floor(start / MINUTE_MS) * MINUTE_MS) as EpochMs,
    end: (Math.ceil(end / MINUTE_MS) * MINUTE_MS) as EpochMs,
  };
}
