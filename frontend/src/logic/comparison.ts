/** What the comparison page shows of its findings: order, filter, marks, and the windows to look at. */

import type { BaselineInfo, Comparison, FieldInfo, Finding, Interval, StatInfo, Summary } from "./api";
import { formatCount, plural } from "./number";
import { type EpochMs, fromApi, lengthOf, type Window } from "./time";

export const SORTS = ["rank", "score", "ks", "shift", "stat", "field"] as const;
export type Sort = (typeof SORTS)[number];

export const SORT_LABELS: Readonly<Record<Sort, string>> = {
  rank: "rank",
  score: "score",
  ks: "KS distance",
  shift: "relative shift",
  stat: "stat and instance",
  field: "field",
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

/** The findings in another order; the rank stays the one that the server gave. */
export function sortFindings(findings: readonly Finding[], sort: Sort): readonly Finding[] {
  const compare: Record<Sort, (a: Finding, b: Finding) => number> = {
    rank: () => 0,
    score: (a, b) => b.score - a.score,
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

/** Digits for a number that was computed from several samples: the source's; a small one between two whole numbers has one more. */
export function computedDecimals(value: number | null, decimals: number): number {
  return value === null || decimals > 0 || Number.isInteger(value) || Math.abs(value) >= 10 ? decimals : 1;
}

export function toWindow(interval: Interval): Window {
  return { start: fromApi(interval.start), end: fromApi(interval.end) };
}

/** The one window of a side that a graph shows: its longest. */
export function longestWindow(intervals: readonly Interval[]): Window | null {
  const windows = intervals.map(toWindow);
  return [...windows].sort((a, b) => b.end - b.start - (a.end - a.start))[0] ?? null;
}

/** Where every series of the host went; the numbers add up. */
export function describeCounts(comparison: Comparison): string {
  const { n_series, n_compared, n_findings, n_unchanged, n_one_sided, n_thin } = comparison;
  return (
    `${plural(n_series, "series", "series")} on this host: ${formatCount(n_compared)} compared, of which ${formatCount(n_findings)} differ ` +
    `and ${formatCount(n_unchanged)} do not; ${formatCount(n_one_sided)} on one side only, ${formatCount(n_thin)} with too few samples`
  );
}

/** What moved, for a label. */
export function describeKind(kind: string): string {
  const kinds: Readonly<Record<string, string>> = { level: "level", top: "highest 2 %", bottom: "lowest 2 %" };
  return kinds[kind] ?? kind;
}

/** A piece of the baseline as long as the incident, from its longest window: what the overlay draws. */
export function overlayWindow(baseline: readonly Interval[], incident: Window): Window | null {
  const longest = longestWindow(baseline);
  return longest && { start: longest.start, end: Math.min(longest.end, longest.start + lengthOf(incident)) as EpochMs };
}

/** The rows of a finding's table of values. */
export const SUMMARY_ROWS: readonly {
  readonly key: Exclude<keyof Summary, "n">;
  readonly label: string;
  readonly isMain: boolean;
}[] = [
  { key: "median", label: "median", isMain: true },
  { key: "p5", label: "p5", isMain: false },
  { key: "p95", label: "p95", isMain: false },
  { key: "p99", label: "p99", isMain: true },
  { key: "lowest", label: "lowest", isMain: false },
  { key: "highest", label: "highest", isMain: false },
];

/** How a series is called: `mpstat_linux · CPU 2 · %iowait`. */
export function seriesTitle(
  stat: StatInfo | null,
  row: { readonly stat: string; readonly instance: string; readonly field: string },
): string {
  const field = stat?.fields.find(({ key }) => key === row.field);
  const column = field === undefined ? row.field : field.group === "" ? field.column : `${field.group} ${field.column}`;
  const instance = row.instance === "" ? [] : [`${stat?.instance_title ?? ""} ${row.instance}`.trim()];
  return [row.stat, ...instance, column].join(" · ");
}

/** The first window of a baseline, where its link on a host leads. */
export function firstWindow(baseline: Pick<BaselineInfo, "windows">): Window | null {
  const [first] = baseline.windows;
  return first === undefined ? null : toWindow(first);
}

/** What counts load rather than being a share or a level of it. */
const LOAD_KINDS: readonly FieldInfo["kind"][] = ["rate", "counter", "count"];

/** The series by which others may be divided, for a menu: what counts something, of the stats that a host sent. */
export function divisorOptions(
  stats: readonly StatInfo[],
  sent: readonly string[],
): readonly { readonly group: string; readonly items: readonly { readonly value: string; readonly label: string }[] }[] {
  return stats
    .filter(({ name }) => sent.includes(name))
    .map(({ name, fields }) => ({
      group: name,
      items: fields
        .filter(({ kind }) => LOAD_KINDS.includes(kind))
        .map(({ key, group, column, unit }) => ({
          value: `${name}.${key}`,
          label: `${group === "" ? "" : `${group} `}${column}${unit === "" ? "" : ` (${unit})`}`,
        })),
    }))
    .filter(({ items }) => items.length > 0);
}

/** How a group is called: stat, column and, where it has one member, its instance. */
export function groupTitle(
  stat: StatInfo | null,
  group: { readonly stat: string; readonly field: string; readonly n_members: number; readonly instances: readonly string[] },
): string {
  const [first = ""] = group.instances;
  return seriesTitle(stat, { stat: group.stat, field: group.field, instance: group.n_members === 1 ? first : "" });
}

/** The instances of a group beyond those that have a graph, and how many there are beyond those that have a name. */
export function memberNames(group: {
  readonly n_members: number;
  readonly instances: readonly string[];
  readonly members: readonly { readonly instance: string }[];
}): { readonly rest: readonly string[]; readonly n_unnamed: number } {
  const drawn = new Set(group.members.map(({ instance }) => instance));
  return {
    rest: group.instances.filter((instance) => !drawn.has(instance)),
    n_unnamed: Math.max(0, group.n_members - group.instances.length),
  };
}

export function statOf(stats: readonly StatInfo[], name: string): StatInfo | null {
  return stats.find((stat) => stat.name === name) ?? null;
}
