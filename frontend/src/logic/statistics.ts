/** Statistics of lines: of all samples of a window, and how they differ from those of a baseline. */

import type { FieldInfo, LineStatistics, LineValues } from "./api";
import type { Series, SeriesBlock } from "./block";
import { formatValue } from "./number";
import { type LegendEntry, seriesKey } from "./series";
import { type EpochMs, MINUTE, SECOND, toEpochMs, type Window } from "./time";
import { isState, nameState, type Scale } from "./unit";

export const STATISTICS = ["last", "lowest", "mean", "p95", "highest"] as const;
export type Statistic = (typeof STATISTICS)[number];

export const STATISTIC_LABELS: Readonly<Record<Statistic, string>> = {
  last: "last",
  lowest: "min",
  mean: "avg",
  p95: "p95",
  highest: "max",
};

const UPPER = 0.95;

/** Return the statistics of a line from all of its samples, as the server computes them. Missing: null = a gap. */
export function valuesOf(values: readonly (number | null)[]): LineValues {
  const known = values.filter((value) => value !== null);
  const last = known.at(-1) ?? null;
  if (last === null) {
    return { n: 0, lowest: null, mean: null, p95: null, highest: null, last: null };
  }
  const ordered = Float64Array.from(known).sort();
  const place = UPPER * (ordered.length - 1);
  const below = ordered[Math.floor(place)] ?? 0;
  const above = ordered[Math.ceil(place)] ?? 0;
  return {
    n: ordered.length,
    lowest: ordered[0] ?? null,
    mean: known.reduce((sum, value) => sum + value, 0) / known.length,
    p95: below + (above - below) * (place - Math.floor(place)),
    highest: ordered.at(-1) ?? null,
    last,
  };
}

/** Return the statistics of each line by its key. Missing: null for an envelope, whose points are not all samples. */
export function statisticsOfBlock(block: Pick<SeriesBlock, "resolution" | "series">): ReadonlyMap<string, LineValues> | null {
  return block.resolution === "raw"
    ? new Map(block.series.map((series: Series) => [seriesKey(series), valuesOf(series.values)]))
    : null;
}

/** Return the answer of the server by the keys of the lines. */
export function byLine(lines: readonly LineStatistics[]): ReadonlyMap<string, LineStatistics> {
  return new Map(lines.map((line) => [seriesKey(line), line]));
}

/** Return the window to ask statistics for: a live one moves in steps, so that a page does not ask every second. */
export function statisticsWindow(window: Window, isLive: boolean): Window {
  if (!isLive) {
    return window;
  }
  const step = Math.min(10 * MINUTE, Math.max(10 * SECOND, (window.end - window.start) / 60));
  const floor = (at: number): EpochMs => toEpochMs(Math.floor(at / step) * step);
  return { start: floor(window.start), end: floor(window.end) };
}

/** Return a number in the unit of an axis: with the printed digits, or three digits where it was scaled or computed. */
export function formatStatistic(value: number | null, statistic: Statistic, decimals: number, scale: Scale): string {
  if (value === null) {
    return "–";
  }
  if (isState(scale.unit)) {
    // The mean of green and red is not amber.
    return (statistic === "mean" ? null : nameState(value)) ?? "–";
  }
  const shown = value / scale.factor;
  const size = Math.abs(shown);
  const three = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  const isComputed = statistic === "mean" || statistic === "p95";
  const digits =
    scale.factor !== 1 ? three : isComputed && !Number.isInteger(shown) ? Math.max(decimals, Math.min(three, 1)) : decimals;
  return `${formatValue(shown, digits)}${scale.suffix}`;
}

/** How a line of a selection differs from the baseline. */
export interface LineChange {
  /** `×7.9`, `+82 points`, `new`; empty where the mean is within the baseline's usual range. */
  readonly text: string;
  readonly tone: "worse" | "better" | "neither" | "none";
  /** For sorting: distance of the means in widths of the baseline's range; infinite for a line that the baseline does not have. */
  readonly size: number;
}

const NO_CHANGE: LineChange = { text: "", tone: "none", size: 0 };

/** Return how the mean of a selection differs from the baseline; from its lowest value to its p95 is no difference. */
export function changeOf(
  line: Pick<LineStatistics, "window" | "baseline">,
  field: Pick<FieldInfo, "unit" | "worse" | "decimals">,
): LineChange {
  const { mean } = line.window;
  if (mean === null) {
    return NO_CHANGE;
  }
  const { baseline } = line;
  if (baseline === null) {
    return { text: "not in the baseline", tone: "neither", size: Number.POSITIVE_INFINITY };
  }
  if (baseline.mean === null || baseline.lowest === null || baseline.highest === null) {
    return NO_CHANGE;
  }
  const difference = mean - baseline.mean;
  const width = Math.max(baseline.highest - baseline.lowest, 10 ** -field.decimals);
  const size = Math.abs(difference) / width;
  const isWithin = mean >= baseline.lowest && mean <= (baseline.p95 ?? baseline.highest);
  if (isWithin) {
    return { ...NO_CHANGE, size };
  }
  const isHigher = difference > 0;
  const tone = field.worse === "neither" ? "neither" : (field.worse === "higher") === isHigher ? "worse" : "better";
  return { text: describeChange(mean, baseline.mean, field.unit), tone, size };
}

function describeChange(mean: number, normal: number, unit: string): string {
  if (unit === "%") {
    const points = mean - normal;
    return `${points < 0 ? "−" : "+"}${formatValue(Math.abs(points), Math.abs(points) < 10 ? 1 : 0)} points`;
  }
  const ratio = mean / normal;
  if (!Number.isFinite(ratio) || ratio <= 0) {
    return normal === 0 ? "from 0" : mean < normal ? "lower" : "higher";
  }
  return `×${formatValue(ratio, ratio >= 10 || Number.isInteger(ratio) ? 0 : ratio >= 1 ? 1 : 2)}`;
}

/** Return the largest size of the values of lines, which chooses their unit. */
export function largestOf(lines: readonly Pick<LineStatistics, "window" | "baseline">[]): number {
  const sides = lines.flatMap(({ window, baseline }) => [window, ...(baseline === null ? [] : [baseline])]);
  return Math.max(0, ...sides.flatMap(({ lowest, highest }) => [Math.abs(lowest ?? 0), Math.abs(highest ?? 0)]));
}

/** Return the lines with the largest change first. */
export function byChange<R extends { readonly change: LineChange }>(rows: readonly R[]): readonly R[] {
  // Two lines that the baseline does not have are equally far from it.
  return [...rows].sort((a, b) => (a.change.size === b.change.size ? 0 : b.change.size - a.change.size));
}

/** Return the column width of a legend in digits, within limits. */
export function legendColumn(entries: readonly LegendEntry[], scale: Scale): number {
  const lengths = entries.map(({ name, field, lowest, highest }) => {
    const values = [lowest, highest].map((value) => formatStatistic(value, "last", field.decimals, scale).length);
    return name.length + Math.max(...values);
  });
  return Math.min(38, Math.max(14, 6 + Math.max(0, ...lengths)));
}
