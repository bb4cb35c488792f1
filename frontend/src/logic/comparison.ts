/** What the comparison page shows of its findings: order, filter, marks, and the windows to look at. */

import type { BaselineInfo, Comparison, FieldInfo, Finding, StatInfo } from "./api";
import { fromApi, type Window } from "./time";

export const SORTS = ["rank", "ks", "shift", "stat", "field"] as const;
export type Sort = (typeof SORTS)[number];

export const SORT_LABELS: Readonly<Record<Sort, string>> = {
  rank: "Rank (score)",
  ks: "KS distance",
  shift: "Relative shift",
  stat: "Stat, instance",
  field: "Field",
};

/** Worse and better are said by a word and a shape, never by colour alone. */
export interface Mark {
  readonly verdict: "worse" | "better" | "changed";
  readonly arrow: "up" | "down" | "same";
}

export function markOf(finding: Pick<Finding, "direction" | "is_worse">): Mark {
  const verdict = finding.is_worse === null ? "changed" : finding.is_worse ? "worse" : "better";
  return { verdict, arrow: finding.direction };
}

function relativeShift(finding: Finding): number {
  const level = Math.abs(finding.baseline.median ?? 0);
  return level > 0 ? Math.abs(finding.shift) / level : Math.abs(finding.shift) > 0 ? Number.POSITIVE_INFINITY : 0;
}

function byText(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

/** The findings in another order; the rank stays that of the score. */
export function sortFindings(findings: readonly Finding[], sort: Sort): readonly Finding[] {
  const compare: Record<Sort, (a: Finding, b: Finding) => number> = {
    rank: () => 0,
    ks: (a, b) => b.ks - a.ks,
    shift: (a, b) => Number(relativeShift(b) > relativeShift(a)) - Number(relativeShift(b) < relativeShift(a)),
    stat: (a, b) => byText(a.stat, b.stat) || byText(a.instance, b.instance),
    field: (a, b) => byText(a.column, b.column) || byText(a.field, b.field),
  };
  return [...findings].sort((a, b) => compare[sort](a, b) || a.rank - b.rank);
}

/** Those in which every word of the filter occurs somewhere; `-word` leaves out. */
export function filterSeries<T extends { readonly stat: string; readonly instance: string; readonly field: string }>(
  rows: readonly T[],
  filter: string,
  textOf: (row: T) => string,
): readonly T[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) {
    return rows;
  }
  return rows.filter((row) => {
    const text = `${row.stat} ${row.instance} ${row.field} ${textOf(row)}`.toLowerCase();
    return words.every((word) => (word.startsWith("-") && word.length > 1 ? !text.includes(word.slice(1)) : text.includes(word)));
  });
}

export function fieldOf(stats: readonly StatInfo[], stat: string, field: string): FieldInfo | null {
  return stats.find(({ name }) => name === stat)?.fields.find(({ key }) => key === field) ?? null;
}

/** Digits for a number that was computed from several samples: the source's, and one more for small numbers between two printed ones. */
export function computedDecimals(value: number | null, decimals: number): number {
  if (value === null) {
    return decimals;
  }
  const isBetween = Math.abs(Number(value.toFixed(decimals)) - value) > 1e-9;
  return isBetween && Math.abs(value) < 10 * 10 ** -decimals ? decimals + 1 : decimals;
}

export function toWindow(interval: { readonly start: string; readonly end: string }): Window {
  return { start: fromApi(interval.start), end: fromApi(interval.end) };
}

/** The one window of a side that a graph shows: its longest. */
export function longestWindow(intervals: readonly { readonly start: string; readonly end: string }[]): Window | null {
  const windows = intervals.map(toWindow);
  return [...windows].sort((a, b) => b.end - b.start - (a.end - a.start))[0] ?? null;
}

/** What the comparison did not find, in the order in which a reader asks. */
export function describeCounts(comparison: Comparison): readonly { readonly label: string; readonly count: number }[] {
  return [
    { label: "series on this host", count: comparison.n_series },
    { label: "compared", count: comparison.n_compared },
    { label: "differ", count: comparison.n_findings },
    { label: "unchanged", count: comparison.n_unchanged },
    { label: "on one side only", count: comparison.n_one_sided },
    { label: "too few samples", count: comparison.n_thin },
  ];
}

/** The first window of a baseline, where its link on a host leads. */
export function firstWindow(baseline: Pick<BaselineInfo, "windows">): Window | null {
  const [first] = baseline.windows;
  return first === undefined ? null : toWindow(first);
}
