/**
 * Small graphs of findings as SVG paths: the incident over the baseline's band, and beside it, on the same axis, how often each value
 * occurs on both sides. Each drawing is in a box of WIDTH x HEIGHT (and SIDE for a half of the distribution), y downwards.
 */

import type { Finding, SideValues, SparklineColumns } from "./api";
import { piecesOf } from "./series";
import { type LabelledAxis, labelledAxis } from "./unit";

export const WIDTH = 320;
export const HEIGHT = 100;
/** The width of one half of the distribution. */
export const SIDE = 40;

const N_BINS = 30;
const MAX_TICKS = 3;
const ROUNDING = 0.005;

export interface SketchTick {
  readonly y: number;
  readonly label: string;
}

export interface Sketch {
  readonly axisUnit: string;
  readonly ticks: readonly SketchTick[];
  /** Baseline's p5 to p95 and median; null where it has no samples. */
  readonly band: { readonly top: number; readonly bottom: number } | null;
  readonly median: number | null;
  readonly incident: string;
  /** The baseline's own line by elapsed time; "" without one. */
  readonly baseline: string;
  /** The side without samples, in words; "" with samples on both. */
  readonly note: string;
  readonly distribution: { readonly baseline: string; readonly incident: string };
}

/** Both distributions over one axis of values, in a box of WIDTH x HEIGHT. */
export interface Overlay {
  readonly baseline: string;
  readonly incident: string;
  /** The ends of the axis, with the unit at the right one. */
  readonly low: string;
  readonly high: string;
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** The area between the lowest and highest of each column, one closed piece after another: gaps stay open. */
export function columnsPath({ low, high }: SparklineColumns, yOf: (value: number) => number): string {
  const step = WIDTH / Math.max(1, high.length);
  return piecesOf(high)
    .map(([from, to]) => {
      // A single column between gaps has no neighbour to be joined with: it keeps its own width.
      const isAlone = to - from === 1;
      const at = [...Array(to - from).keys()].map((index) => from + index);
      const points = (values: readonly (number | null)[], order: readonly number[]): string[] =>
        order.flatMap((index) => {
          const y = round(yOf(values[index] ?? 0));
          return isAlone
            ? [`${round(index * step)} ${y}`, `${round((index + 1) * step)} ${y}`]
            : [`${round((index + 0.5) * step)} ${y}`];
        });
      const above = points(high, at);
      const below = points(low, [...at].reverse());
      return `M${[...above, ...(isAlone ? below.reverse() : below)].join("L")}Z`;
    })
    .join("");
}

/** Return the share of samples up to a value, from evenly spaced quantiles. */
export function shareUpTo(quantiles: readonly number[], value: number): number {
  const last = quantiles.length - 1;
  const lowest = quantiles[0];
  if (last < 0 || lowest === undefined || value < lowest) {
    return 0;
  }
  let index = 0;
  while (index < last && (quantiles[index + 1] ?? 0) <= value) {
    index += 1;
  }
  if (index >= last) {
    return 1;
  }
  const from = quantiles[index] ?? 0;
  const to = quantiles[index + 1] ?? 0;
  return (index + (value - from) / (to - from)) / last;
}

/** Return the share of samples in each bin between two values; a value on an edge belongs to the bin below. */
export function sharesOf(quantiles: readonly number[], low: number, high: number, nBins: number): readonly number[] {
  const edges = [...Array(nBins + 1).keys()].map((index) => low + ((high - low) * index) / nBins);
  return edges.slice(1).map((edge, index) => {
    const below = index === 0 ? 0 : shareUpTo(quantiles, edges[index] ?? low);
    return (index === nBins - 1 ? 1 : shareUpTo(quantiles, edge)) - below;
  });
}

/**
 * Return the outline of horizontal bars from the middle outwards. Their length is the square root of the share, so
 * that rare values remain visible.
 */
function barsPath(shares: readonly number[], largest: number, towards: -1 | 1): string {
  const height = HEIGHT / shares.length;
  const lengths = shares.map((share) => (share <= 0 || largest <= 0 ? null : Math.max(0.8, SIDE * Math.sqrt(share / largest))));
  return piecesOf(lengths)
    .map(([from, to]) => {
      const steps = lengths
        .slice(from, to)
        .map((length, index) => `H${round(SIDE + towards * (length ?? 0))}V${round(HEIGHT - (from + index + 1) * height)}`);
      return `M${String(SIDE)} ${round(HEIGHT - from * height)}${steps.join("")}H${String(SIDE)}Z`;
    })
    .join("");
}

/** Return the outline of columns from the bottom upwards, as high as the square root of the share. */
function outlinePath(shares: readonly number[], largest: number): string {
  const step = WIDTH / shares.length;
  const heights = shares.map((share) => (share <= 0 || largest <= 0 ? 0 : Math.max(3, HEIGHT * Math.sqrt(share / largest))));
  const steps = heights.map((height, index) => `V${round(HEIGHT - height)}H${round((index + 1) * step)}`);
  return shares.length === 0 ? "" : `M0 ${String(HEIGHT)}${steps.join("")}V${String(HEIGHT)}Z`;
}

/** Return all numbers that the axis of a finding must include. */
function extentOf(finding: Pick<Finding, "baseline" | "incident" | "sparkline">): readonly [number, number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  const add = (value: number | null | undefined): void => {
    if (value !== null && value !== undefined) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  };
  const { baseline, incident, sparkline } = finding;
  for (const side of [baseline, incident]) {
    add(side.lowest);
    add(side.highest);
    add(side.p5);
    add(side.p95);
  }
  sparkline?.low.forEach(add);
  sparkline?.high.forEach(add);
  if (low > high) {
    return [0, 1];
  }
  // Values computed from stored profiles may be slightly negative by rounding; that needs no extra tick.
  return [low < 0 && -low < ROUNDING * (high - low) ? 0 : low, high];
}

/** An axis starts at zero, unless a level varies by less than a third of itself: it would be a flat line. */
function axisOf(finding: Pick<Finding, "baseline" | "incident" | "sparkline">, unit: string): LabelledAxis {
  const [low, high] = extentOf(finding);
  if (unit === "%" && low >= 0 && high > 50 && high <= 120) {
    // Percentages close to 100 show the full range, and slightly more only if the tool printed more.
    const axis = labelledAxis(0, 100, unit, MAX_TICKS);
    return { ...axis, high: Math.max(axis.high, high) };
  }
  const isFlat = low > 0 && high > low && high - low < high / 3;
  return labelledAxis(isFlat ? low : Math.min(0, low), Math.max(isFlat ? high : 0, high), unit, MAX_TICKS);
}

interface Shares {
  readonly before: readonly number[];
  readonly during: readonly number[];
  readonly largest: number;
}

/** Return the share of each side's samples in each bin of an axis. Missing: no bins of a side without samples. */
function sharesOn(axis: LabelledAxis, { baseline, incident }: Pick<Finding, "baseline" | "incident">): Shares {
  const shares = (side: SideValues): readonly number[] =>
    side.quantiles === null || side.quantiles.length === 0 ? [] : sharesOf(side.quantiles, axis.low, axis.high, N_BINS);
  const [before, during] = [shares(baseline), shares(incident)];
  return { before, during, largest: Math.max(0, ...before, ...during) };
}

/** Return how often each value occurs on both sides, one over the other. */
export function buildOverlay(finding: Pick<Finding, "baseline" | "incident" | "sparkline">, unit: string): Overlay {
  const axis = axisOf(finding, unit);
  const { before, during, largest } = sharesOn(axis, finding);
  const { labels } = axis;
  return {
    baseline: outlinePath(before, largest),
    incident: outlinePath(during, largest),
    low: labels[0] ?? "",
    high: `${labels.at(-1) ?? ""} ${axis.unit}`.trim(),
  };
}

/** The small graphs of one finding. */
export function buildSketch(finding: Pick<Finding, "baseline" | "incident" | "sparkline">, unit: string): Sketch {
  const axis = axisOf(finding, unit);
  const span = axis.high - axis.low;
  const yOf = (value: number): number => HEIGHT - ((value - axis.low) / span) * HEIGHT;
  const { baseline, incident, sparkline } = finding;
  const { before, during, largest } = sharesOn(axis, finding);
  return {
    axisUnit: axis.unit,
    ticks: axis.ticks.map((tick, index) => ({ y: yOf(tick), label: axis.labels[index] ?? "" })),
    band: baseline.p5 === null || baseline.p95 === null ? null : { top: yOf(baseline.p95), bottom: yOf(baseline.p5) },
    median: baseline.median === null ? null : yOf(baseline.median),
    incident: sparkline === null ? "" : columnsPath(sparkline, yOf),
    baseline: sparkline?.baseline == null ? "" : columnsPath(sparkline.baseline, yOf),
    note: baseline.n === 0 ? "no samples in the baseline" : incident.n === 0 ? "no samples in the incident" : "",
    distribution: { baseline: barsPath(before, largest, -1), incident: barsPath(during, largest, 1) },
  };
}
