/** Distributions: parse the instances `KEY{LABEL}`, sort buckets by value, and lay out counts over time as a grid. */

import type { Series, SeriesBlock } from "./block";
import { lowerBound, typicalStep, windowOf } from "./series";
import { HOUR, MINUTE, type Window } from "./time";

export interface Bucket {
  readonly label: string;
  readonly series: Pick<Series, "times" | "values">;
}

export interface Distribution {
  readonly key: string;
  /** From lowest to highest. */
  readonly buckets: readonly Bucket[];
}

/**
 * The cells of a heatmap. `counts[bucket][column]` is the highest (or lowest) sample in the column's time
 * span; null without samples.
 */
export interface Grid {
  /** The column boundaries in epoch milliseconds: one more than there are columns. */
  readonly edges: readonly number[];
  readonly counts: readonly (readonly (number | null)[])[];
}

const SUFFIXES = "KMGTPE";
const NUMBER = /-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?([KMGTPE])?/u;

/** Return key and label of an instance; without braces, the whole instance is the key. */
export function splitBucket(instance: string): { readonly key: string; readonly label: string } {
  const at = instance.lastIndexOf("{");
  return at < 0 || !instance.endsWith("}")
    ? { key: instance, label: "" }
    : { key: instance.slice(0, at), label: instance.slice(at + 1, -1) };
}

/** Return the lower bound of a bucket from its label, for sorting; "< 0" is below everything. */
export function lowEnd(label: string): number {
  if (label.trim().startsWith("<") || label.startsWith("(...")) {
    return Number.NEGATIVE_INFINITY;
  }
  const found = NUMBER.exec(label);
  if (found === null) {
    return Number.POSITIVE_INFINITY;
  }
  const suffix = found[1] ?? "";
  return Number.parseFloat(found[0]) * (suffix === "" ? 1 : 1024 ** (SUFFIXES.indexOf(suffix) + 1));
}

/** Return the distributions in a block by key, in order of appearance. */
export function distributionsOf(block: Pick<SeriesBlock, "series">): readonly Distribution[] {
  const found = new Map<string, Bucket[]>();
  for (const series of block.series) {
    if (series.field === "count") {
      const { key, label } = splitBucket(series.instance);
      const buckets = found.get(key) ?? [];
      buckets.push({ label, series });
      found.set(key, buckets);
    }
  }
  return [...found].map(([key, buckets]) => ({ key, buckets: buckets.sort((a, b) => lowEnd(a.label) - lowEnd(b.label)) }));
}

/** Return the instances of one field as rows: names before numbers (`all` before `0`), names alphabetically, numbers by size. */
export function instanceRows(block: Pick<SeriesBlock, "series">): readonly Distribution[] {
  const rows = block.series.map((series) => ({ label: series.instance, series }));
  const order = (label: string): number => (/^\d+$/.test(label) ? Number(label) : -1);
  rows.sort((a, b) => order(a.label) - order(b.label) || (a.label < b.label ? -1 : 1));
  return rows.length === 0 ? [] : [{ key: block.series[0]?.field ?? "", buckets: rows }];
}

/** The columns of a heatmap: time spans of equal length. */
export interface Columns {
  readonly start_ms: number;
  readonly step_ms: number;
  readonly n: number;
}

/** Return the number of columns that fit, none so narrow that it would be empty between two samples. */
export function columnsFor(buckets: readonly Bucket[], window: Window, most: number): Columns {
  const longest = buckets.reduce<Bucket["series"] | null>(
    (found, { series }) => (found === null || series.times.length > found.times.length ? series : found),
    null,
  );
  const usual = longest === null ? null : typicalStep(longest);
  const length = window.end - window.start;
  const n = Math.max(1, usual === null || usual <= 0 ? most : Math.min(most, Math.floor(length / usual)));
  return { start_ms: window.start, step_ms: length / n, n };
}

/**
 * Return the columns whose extremes the server returned; only in them is the highest point the highest sample. They start with
 * the window or, for rollups, with its minute or hour. Returns null if all samples are present.
 */
export function columnsOf(block: Pick<SeriesBlock, "resolution" | "source" | "column_ms" | "start" | "end">): Columns | null {
  if (block.resolution === "raw") {
    return null;
  }
  const { start, end } = windowOf(block);
  const step_ms = block.column_ms;
  const grain = block.source === "raw" ? 1 : step_ms >= HOUR ? HOUR : MINUTE;
  const start_ms = Math.floor(start / grain) * grain;
  return { start_ms, step_ms, n: Math.max(1, Math.ceil((end - start_ms) / step_ms)) };
}

/** Return the highest (or lowest) sample of each bucket in each column. */
export function gridOf(
  buckets: readonly Bucket[],
  { start_ms, step_ms, n }: Columns,
  pick: "highest" | "lowest" = "highest",
): Grid {
  const edges = Array.from({ length: n + 1 }, (_, index) => start_ms + index * step_ms);
  const counts = buckets.map(({ series }) => {
    const row = new Array<number | null>(n).fill(null);
    for (let index = lowerBound(series.times, start_ms); index < series.times.length; index += 1) {
      const column = Math.floor(((series.times[index] ?? 0) - start_ms) / step_ms);
      const value = series.values[index] ?? null;
      if (column >= n) {
        break;
      }
      const before = row[column] ?? null;
      if (value !== null && (before === null || (pick === "highest" ? value > before : value < before))) {
        row[column] = value;
      }
    }
    return row;
  });
  return { edges, counts };
}
