/** Buckets of distributions: the instance `KEY{LABEL}` taken apart, buckets in the order of their values, counts over time as a grid. */

import type { Series, SeriesBlock } from "./block";
import { lowerBound, usualStep, windowOf } from "./series";
import { HOUR, MINUTE, type Window } from "./time";

export interface Bucket {
  readonly label: string;
  readonly series: Pick<Series, "times" | "values">;
}

export interface Distribution {
  readonly key: string;
  /** From the lowest to the highest. */
  readonly buckets: readonly Bucket[];
}

/** Cells of a heatmap. `counts[bucket][column]` is the highest (or lowest) sample in the column's stretch of time; null where there is none. */
export interface Grid {
  /** One more than there are columns, in epoch milliseconds. */
  readonly edges: readonly number[];
  readonly counts: readonly (readonly (number | null)[])[];
}

const SUFFIXES = "KMGTPE";
const NUMBER = /-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?([KMGTPE])?/u;

/** Key and label; an instance without braces is all key. */
export function splitBucket(instance: string): { readonly key: string; readonly label: string } {
  const at = instance.lastIndexOf("{");
  return at < 0 || !instance.endsWith("}")
    ? { key: instance, label: "" }
    : { key: instance.slice(0, at), label: instance.slice(at + 1, -1) };
}

/** The low end of a bucket by its label, for the order of buckets: "< 0" is below everything. */
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

/** The distributions whose counts are in the block, by key in the order in which they come. */
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

/** The instances of one field as rows: numbers by their size, names by the alphabet, words before numbers (`all` before `0`). */
export function instanceRows(block: Pick<SeriesBlock, "series">): readonly Distribution[] {
  const rows = block.series.map((series) => ({ label: series.instance, series }));
  const order = (label: string): number => (/^\d+$/.test(label) ? Number(label) : -1);
  rows.sort((a, b) => order(a.label) - order(b.label) || (a.label < b.label ? -1 : 1));
  return rows.length === 0 ? [] : [{ key: block.series[0]?.field ?? "", buckets: rows }];
}

/** Equal stretches of time, the columns of a heatmap. */
export interface Columns {
  readonly start_ms: number;
  readonly step_ms: number;
  readonly n: number;
}

/** How many columns there are room for, but none so narrow that no sample falls into it between two others. */
export function columnsFor(buckets: readonly Bucket[], window: Window, most: number): Columns {
  const longest = buckets.reduce<readonly number[]>(
    (times, { series }) => (series.times.length > times.length ? series.times : times),
    [],
  );
  const usual = usualStep(longest);
  const length = window.end - window.start;
  const n = Math.max(1, usual === null || usual <= 0 ? most : Math.min(most, Math.floor(length / usual)));
  return { start_ms: window.start, step_ms: length / n, n };
}

/**
 * The columns that the server took the extremes of: only for them is the highest point the highest sample. They begin with the window,
 * or where rollups were used at its minute's or hour's begin. Missing: null where every sample is there.
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

/** The highest (or lowest) sample of each bucket in each column. */
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
