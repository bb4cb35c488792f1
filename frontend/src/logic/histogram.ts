/** Buckets of distributions: the instance `KEY{LABEL}` taken apart, buckets in the order of their values, counts over time as a grid. */

import type { Series, SeriesBlock } from "./api";
import { lowerBound, usualStep } from "./series";
import type { Window } from "./time";

export interface Bucket {
  readonly label: string;
  readonly series: Pick<Series, "times" | "values">;
}

export interface Distribution {
  readonly key: string;
  /** From the lowest to the highest. */
  readonly buckets: readonly Bucket[];
}

/** Cells of a heatmap. `counts[bucket][column]` is the highest count in the column's stretch of time; null where there is none. */
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

/** How many columns a heatmap has: what there is room for, but none so narrow that no sample falls into it between two others. */
export function columnsFor(buckets: readonly Bucket[], window: Window, most: number): number {
  const longest = buckets.reduce<readonly number[]>(
    (times, { series }) => (series.times.length > times.length ? series.times : times),
    [],
  );
  const step = usualStep(longest);
  return Math.max(1, step === null || step <= 0 ? most : Math.min(most, Math.floor((window.end - window.start) / step)));
}

/** The counts in `nColumns` equal stretches of the window. */
export function gridOf(buckets: readonly Bucket[], window: Window, nColumns: number): Grid {
  const step = (window.end - window.start) / nColumns;
  const edges = Array.from({ length: nColumns + 1 }, (_, index) => window.start + index * step);
  const counts = buckets.map(({ series }) => {
    const row = new Array<number | null>(nColumns).fill(null);
    for (let index = lowerBound(series.times, window.start); index < series.times.length; index += 1) {
      const column = Math.floor(((series.times[index] ?? 0) - window.start) / step);
      const value = series.values[index] ?? null;
      if (column >= nColumns) {
        break;
      }
      const before = row[column] ?? null;
      row[column] = value === null || (before !== null && before > value) ? before : value;
    }
    return row;
  });
  return { edges, counts };
}
