/** Distributions of artefacts: names of buckets, sums over reports, where most of the events are, and the sentence that says it. */

import type { HistogramBucket, HistogramView } from "./api";
import { readable } from "./artefact";
import { formatCount, formatShare, formatValue } from "./number";
import { counted } from "./counted";

/** The counts of one key over all reports that are shown. */
export interface KeyCounts {
  readonly key: string;
  readonly counts: readonly number[];
  readonly total: number;
}

type Buckets = readonly HistogramBucket[];

/** Return the counts of each key, those with most events first. `report`: of this report only. */
export function countsByKey(view: Pick<HistogramView, "buckets" | "distributions">, report: number | null): readonly KeyCounts[] {
  const found = new Map<string, number[]>();
  for (const { key, report: own, counts } of view.distributions) {
    if (report === null || report === own) {
      const sums = found.get(key) ?? new Array<number>(view.buckets.length).fill(0);
      counts.forEach((count, place) => {
        sums[place] = (sums[place] ?? 0) + count;
      });
      found.set(key, sums);
    }
  }
  return [...found]
    .map(([key, counts]) => ({ key, counts, total: counts.reduce((sum, count) => sum + count, 0) }))
    .sort((a, b) => b.total - a.total);
}

/** Return the counts of a key in each report: a column of a heatmap each. */
export function countsByReport(
  view: Pick<HistogramView, "buckets" | "distributions" | "reports">,
  key: string,
): readonly (readonly number[])[] {
  return view.reports.map((_, report) => {
    const sums = new Array<number>(view.buckets.length).fill(0);
    for (const each of view.distributions) {
      if (each.key === key && each.report === report) {
        each.counts.forEach((count, place) => {
          sums[place] = (sums[place] ?? 0) + count;
        });
      }
    }
    return sums;
  });
}

/** Return the range of buckets that have events, with one empty bucket at each side: [first, end). */
export function filledRange(all: readonly KeyCounts[], n: number): readonly [number, number] {
  const places = Array.from({ length: n }, (_, place) => place).filter((place) =>
    all.some(({ counts }) => (counts[place] ?? 0) > 0),
  );
  const [first, last] = [places[0], places.at(-1)];
  return first === undefined || last === undefined ? [0, n] : [Math.max(0, first - 1), Math.min(n, last + 2)];
}

/** Return the end of a bucket: its own or, where a tool prints lower ends only, the beginning of the next one. Missing: null. */
export function upperEnd(buckets: Buckets, place: number): number | null {
  return buckets[place]?.high ?? buckets[place + 1]?.low ?? null;
}

const PLAIN = /^[-+\d.,\s<>=()[\]KMG]+$/u;
const LOW_END = /^-?\d+(?:\.\d+)?$/;

/** Return the name of a bucket as its tool prints it, with the unit: `64 -> 127 us`; from its ends where the label is in words. */
export function bucketName(buckets: Buckets, place: number, unit: string): string {
  const bucket = buckets[place];
  if (bucket === undefined) {
    return "";
  }
  const { label, low } = bucket;
  const high = upperEnd(buckets, place);
  if (low === null && high === null) {
    return label;
  }
  if (unit === "") {
    // A lower end alone does not say where the bucket ends.
    return LOW_END.test(label) && high !== null ? `${label} – ${formatValue(high, Number.isInteger(high) ? 0 : 3)}` : label;
  }
  if (PLAIN.test(label) && !LOW_END.test(label)) {
    return `${label} ${unit}`;
  }
  if (low === null) {
    return `< ${readable(high ?? 0, unit)}`;
  }
  return high === null ? `≥ ${readable(low, unit)}` : `${readable(low, unit)} – ${readable(high, unit)}`;
}

/** Return the short name of a bucket for an axis: its lower end. */
export function bucketTick(buckets: Buckets, place: number, unit: string): string {
  const { label = "", low = null } = buckets[place] ?? {};
  if (low === null) {
    return label;
  }
  return unit === "" ? (LOW_END.test(label) ? label : formatValue(low, Number.isInteger(low) ? 0 : 3)) : shortValue(low, unit);
}

function shortValue(value: number, unit: string): string {
  return readable(value, unit)
    .replace(/(\.\d)\d*(?= )/, "$1")
    .replace(/\.0(?= )/, "");
}

/** Return the cumulative shares of counts, 0 to 1. Missing: null without events. */
export function cumulativeOf({ counts, total }: KeyCounts): readonly number[] | null {
  let running = 0;
  return total <= 0
    ? null
    : counts.map((count) => {
        running += count;
        return running / total;
      });
}

/** Return the bucket that holds a quantile (0 to 1). Missing: null without events. */
export function quantileBucket({ counts, total }: KeyCounts, quantile: number): number | null {
  let running = 0;
  const at = counts.findIndex((count) => {
    running += count;
    return count > 0 && running >= quantile * total - 1e-9;
  });
  return total <= 0 || at < 0 ? null : at;
}

/** The most of the events that may be called a rest. */
const REST = 0.3;
const BODY = 0.99;

/** Return the last bucket of the bulk: before an empty stretch after which a rest comes, else where 99 % are reached. */
function bulkEnd(all: KeyCounts): number | null {
  const { counts, total } = all;
  let rest = 0;
  for (let place = counts.length - 1; place > 0; place -= 1) {
    rest += counts[place] ?? 0;
    if (rest > REST * total) {
      break;
    }
    if (rest > 0 && (counts[place - 1] ?? 0) === 0) {
      const before = counts.slice(0, place).findLastIndex((count) => count > 0);
      return before < 0 ? null : before;
    }
  }
  return quantileBucket(all, BODY);
}

/** Return where the events are, in a sentence: `99.8 % of 1,028 below 10 ms; the other 2 took 10 s or more`. Missing: "" without any. */
export function describeBulk(buckets: Buckets, all: KeyCounts, unit: string): string {
  const end = bulkEnd(all);
  const last = all.counts.findLastIndex((count) => count > 0);
  if (end === null || all.total <= 0 || last < 0) {
    return "";
  }
  const inside = all.counts.slice(0, end + 1).reduce((sum, count) => sum + count, 0);
  const limit = upperEnd(buckets, end);
  const total = formatCount(all.total);
  if (limit === null || last === end) {
    const first = all.counts.findIndex((count) => count > 0);
    const low = buckets[first]?.low ?? null;
    if (first === end) {
      return `all ${total} in ${bucketName(buckets, end, unit)}`;
    }
    return limit === null || low === null
      ? counted(all.total, "event")
      : `all ${total} between ${withUnit(low, unit)} and ${withUnit(limit, unit)}`;
  }
  const top = upperEnd(buckets, last);
  const next = all.counts.findIndex((count, place) => place > end && count > 0);
  const rest = formatCount(all.total - inside);
  const from = withUnit(buckets[next]?.low ?? limit, unit);
  const share = formatShare(inside / all.total);
  return top === null
    ? `${share} of ${total} below ${withUnit(limit, unit)}; the other ${rest} at ${from} or more`
    : `${share} of ${total} below ${withUnit(limit, unit)}; the other ${rest} from ${from} to ${withUnit(top, unit)}`;
}

function withUnit(value: number, unit: string): string {
  return unit === "" ? formatValue(value, Number.isInteger(value) ? 0 : 3) : readable(value, unit);
}

/** The rows of a heatmap from the lowest bucket up, a column for each report. */
export interface HeatmapRows {
  /** The bucket of each row. */
  readonly rows: readonly number[];
  /** Missing: null for no events, which have no colour. */
  readonly values: readonly (readonly (number | null)[])[];
}

/** Return the heatmap of the counts of each report, of the buckets in a range. */
export function heatmapOf(reports: readonly (readonly number[])[], [first, end]: readonly [number, number]): HeatmapRows {
  const rows = Array.from({ length: end - first }, (_, row) => first + row);
  return {
    rows,
    values: rows.map((place) =>
      reports.map((counts) => {
        const count = counts[place] ?? 0;
        return count === 0 ? null : count;
      }),
    ),
  };
}
