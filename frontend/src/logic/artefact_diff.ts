/** The diff of two artefacts: how values, differences and bars of its rows are shown. Pure. */

import type { DistributionDiff, TableDiff, TableDiffRow } from "./api";
import { formatDigits } from "./number";
import { type EpochMs, parseIso, toEpochMs, type Window } from "./time";

export const NORMALISATIONS = ["per_second", "share", "raw"] as const;
export type Normalisation = (typeof NORMALISATIONS)[number];

const MINUTE_MS = 60_000;

/** Return a difference with its sign: `+1,024`, `−57`. */
export function formatDifference(value: number | null): string {
  return value !== null && value > 0 ? `+${formatDigits(value)}` : formatDigits(value);
}

/** Return a ratio: as percentage of before while it is below 2, then as a multiple. */
export function formatRatio(ratio: number | null): string {
  if (ratio === null || !Number.isFinite(ratio)) {
    return "–";
  }
  return ratio >= 2 ? `× ${formatDigits(ratio, 3)}` : `${formatDigits(ratio * 100)} %`;
}

/** How wide the bar of a difference is, in percent of the half on its side. */
export function barOf(row: TableDiffRow, rows: readonly TableDiffRow[]): number {
  const widest = Math.max(0, ...rows.map(({ difference }) => Math.abs(difference ?? 0)));
  return widest === 0 || row.difference === null ? 0 : (Math.abs(row.difference) / widest) * 100;
}

/** Return the places of the keys that tell rows apart; a key that is empty in every row needs no column. */
export function keyPlaces(table: Pick<TableDiff, "key_names" | "rows">): readonly number[] {
  const places = table.key_names.map((_, place) => place);
  const told = places.filter((place) => table.rows.some(({ key }) => (key[place] ?? "") !== ""));
  return told.length === 0 ? places.slice(0, 1) : told;
}

/** What rows can be grouped by: every row, and each key alone. */
export function groupChoices(names: readonly string[]): readonly (readonly string[])[] {
  return names.length < 2 ? [] : [[], ...names.map((name) => [name])];
}

export interface BucketRow {
  readonly label: string;
  readonly before: number;
  readonly after: number;
  readonly beforeShare: number | null;
  readonly afterShare: number | null;
  /** Bar lengths in percent of the longest. */
  readonly beforeBar: number;
  readonly afterBar: number;
}

/** Return the buckets from the first to the last that holds anything on a side. */
export function bucketRows(diff: DistributionDiff): readonly BucketRow[] {
  const rows = diff.buckets.map(({ label }, at) => {
    const before = diff.before[at] ?? 0;
    const after = diff.after[at] ?? 0;
    return {
      label,
      before,
      after,
      beforeShare: diff.before_total === 0 ? null : before / diff.before_total,
      afterShare: diff.after_total === 0 ? null : after / diff.after_total,
    };
  });
  const used = rows.map(({ before, after }, at) => (before !== 0 || after !== 0 ? at : -1)).filter((at) => at >= 0);
  const longest = Math.max(...rows.flatMap(({ beforeShare, afterShare }) => [beforeShare ?? 0, afterShare ?? 0]), 0);
  const bar = (share: number | null): number => (longest === 0 ? 0 : ((share ?? 0) / longest) * 100);
  return rows
    .slice(used[0] ?? 0, (used.at(-1) ?? -1) + 1)
    .map((row) => ({ ...row, beforeBar: bar(row.beforeShare), afterBar: bar(row.afterShare) }));
}

/** Return the time that an artefact covers; a minute on each side where only its moment is known. */
export function windowOf({ start, end }: { readonly start: string; readonly end: string | null }): Window | null {
  const from = parseIso(start);
  const to = end === null ? null : parseIso(end);
  if (from === null) {
    return null;
  }
  if (to !== null && to > from) {
    return { start: from, end: to };
  }
  const at: EpochMs = from;
  return { start: toEpochMs(at - MINUTE_MS), end: toEpochMs(at + MINUTE_MS) };
}

/** Whether a row became worse, better, or just different, by the direction of its column. */
export function toneOf(row: TableDiffRow): "more" | "less" | "same" {
  if (row.difference === null || row.difference === 0) {
    return "same";
  }
  return row.difference > 0 ? "more" : "less";
}
