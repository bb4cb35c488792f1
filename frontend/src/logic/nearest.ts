/** The line nearest to the pointer, and how far its sample is from the band. */

import type { BandPiece } from "./band";
import { formatWithUnit } from "./number";
import { type LegendEntry, lowerBound, sampleAt } from "./series";
import type { EpochMs } from "./time";

/** The value axis of a graph: its ends (of a logarithmic axis: powers of ten), and where it is drawn. */
export interface DrawnAxis {
  readonly low: number;
  readonly high: number;
  readonly isLog: boolean;
  readonly top: number;
  readonly height: number;
}

export interface Nearest {
  readonly entry: LegendEntry;
  readonly time: number;
  readonly value: number;
  /** Pixels from the top of the graph to the drawn point. */
  readonly y: number;
}

/** A line farther from the pointer is not meant. */
const REACH_PX = 70;

/** Return the pixel of a value. Missing: null where the axis has no such value. */
export function pixelOfValue(value: number, axis: DrawnAxis): number | null {
  if (axis.isLog && value <= 0) {
    return null;
  }
  const place = ((axis.isLog ? Math.log10(value) : value) - axis.low) / (axis.high - axis.low);
  return axis.top + (1 - place) * axis.height;
}

/** Return the visible line that is drawn nearest to the pointer at an instant; of a stack, its upper edge counts. */
export function nearestLine(
  entries: readonly LegendEntry[],
  at: EpochMs,
  y: number,
  axis: DrawnAxis,
  isStacked: boolean,
): Nearest | null {
  let best: Nearest | null = null;
  let below = 0;
  for (const entry of entries) {
    const sample = sampleAt(entry.series, at, entry.tolerance_ms);
    if (sample === null) {
      continue;
    }
    below += sample.value;
    const pixel = pixelOfValue(isStacked ? below : sample.value, axis);
    const distance = pixel === null ? Number.POSITIVE_INFINITY : Math.abs(pixel - y);
    if (pixel !== null && distance <= REACH_PX && (best === null || distance < Math.abs(best.y - y))) {
      best = { entry, time: sample.time, value: sample.value, y: pixel };
    }
  }
  return best;
}

export interface BandValues {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

/** Return the band at an instant. Missing: null between its pieces. */
export function bandAt(pieces: readonly BandPiece[], at: number): BandValues | null {
  for (const { times, low, middle, high } of pieces) {
    const index = Math.max(0, lowerBound(times, at + 1) - 1);
    if (at >= (times[0] ?? Number.POSITIVE_INFINITY) && at <= (times.at(-1) ?? Number.NEGATIVE_INFINITY)) {
      return { low: low[index] ?? 0, middle: middle[index] ?? 0, high: high[index] ?? 0 };
    }
  }
  return null;
}

/** Return how far a value is from the band: `within the band`, `82.1 % above p95`. */
export function describeDistance(value: number, { low, high }: BandValues, decimals: number, unit: string): string {
  if (value > high) {
    return `${formatWithUnit(value - high, decimals, unit)} above the band`;
  }
  return value < low ? `${formatWithUnit(low - value, decimals, unit)} below the band` : "within the band";
}
