/** Names of series, their values and windows in comparisons. */

import type { BaselineInfo, FieldInfo, Interval, StatInfo, SideValues } from "./api";
import { formatWithUnit } from "./number";
import { fromApi, type Window } from "./time";

export function fieldOf(stats: readonly StatInfo[], stat: string, field: string): FieldInfo | null {
  return stats.find(({ name }) => name === stat)?.fields.find(({ key }) => key === field) ?? null;
}

/**
 * Return the decimals of a number computed from several samples: those of the source; a small number between two
 * whole numbers has one more.
 */
export function computedDecimals(value: number | null, decimals: number): number {
  return value === null || decimals > 0 || Number.isInteger(value) || Math.abs(value) >= 10 ? decimals : 1;
}

export function toWindow(interval: Interval): Window {
  return { start: fromApi(interval.start), end: fromApi(interval.end) };
}

/** `2 to 38 %`; `not there, then 38 %` and `38 %, then gone` where one side has no samples. */
export function describeMedians(
  { baseline, incident }: { readonly baseline: SideValues; readonly incident: SideValues },
  decimals: number,
  unit: string,
): string {
  const text = (value: number | null, shown: string): string => formatWithUnit(value, computedDecimals(value, decimals), shown);
  if (baseline.median === null) {
    return incident.median === null ? "no samples" : `not there, then ${text(incident.median, unit)}`;
  }
  return incident.median === null
    ? `${text(baseline.median, unit)}, then gone`
    : `${text(baseline.median, "")} to ${text(incident.median, unit)}`;
}

/** Return the longest window of a side, which its graph shows. */
export function longestWindow(intervals: readonly Interval[]): Window | null {
  const windows = intervals.map(toWindow);
  return [...windows].sort((a, b) => b.end - b.start - (a.end - a.start))[0] ?? null;
}

/** The rows of a finding's table of values. */
export const SUMMARY_ROWS: readonly {
  readonly key: Exclude<keyof SideValues, "n" | "quantiles">;
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

/** Return the title of a series: `mpstat_linux · CPU 2 · %iowait`. */
export function seriesTitle(
  stat: StatInfo | null,
  row: { readonly stat: string; readonly instance: string; readonly field: string },
): string {
  const field = stat?.fields.find(({ key }) => key === row.field);
  const column = field === undefined ? row.field : field.group === "" ? field.column : `${field.group} ${field.column}`;
  const instance = row.instance === "" ? [] : [`${stat?.instance_title ?? ""} ${row.instance}`.trim()];
  return [row.stat, ...instance, column].join(" · ");
}

/** Return the first window of a baseline, the target of its link on a host. */
export function firstWindow(baseline: Pick<BaselineInfo, "windows">): Window | null {
  const [first] = baseline.windows;
  return first === undefined ? null : toWindow(first);
}

/** Units that count load, unlike shares or levels. */
const LOAD_KINDS: readonly FieldInfo["kind"][] = ["rate", "counter", "count"];

/** Return the possible divisors for a menu: counts among the stats that a host sent. */
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

/** Return the title of a group: stat, column and, if it has one member, its instance. */
export function groupTitle(
  stat: StatInfo | null,
  group: { readonly stat: string; readonly field: string; readonly column: string; readonly instances: readonly string[] },
): string {
  const [first = ""] = group.instances;
  const instance = group.instances.length === 1 ? first : "";
  return stat === null
    ? seriesTitle(null, { stat: group.stat, field: group.column, instance })
    : seriesTitle(stat, { stat: group.stat, field: group.field, instance });
}

/** Return the names of a group's instances without a graph, and the number of further ones. */
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
