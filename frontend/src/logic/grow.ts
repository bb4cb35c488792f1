/** Grow the lines of a live graph by their new part, instead of reading the whole window for each sample. Pure. */

import type { Series, SeriesBlock } from "./block";
import { type DurationMs, type EpochMs, fromApi, lengthOf, SECOND, toDurationMs, toEpochMs, toIso, type Window } from "./time";

/** Samples may arrive this late, in any order; later ones are read with the next whole window. */
const OVERLAP: DurationMs = toDurationMs(30 * SECOND);
/** As on the server: with more samples than these a pixel column has its extremes only. */
const POINTS_PER_COLUMN = 4;
/** The least that the server draws. */
const MIN_WIDTH = 16;

export interface Tail {
  readonly window: Window;
  readonly width: number;
}

/** Return what to read of a window whose beginning is in a block. Missing: null where the whole window must be read */
export function tailOf(block: SeriesBlock, window: Window, width: number): Tail | null {
  const [start, end] = [fromApi(block.start), fromApi(block.end)];
  const from = toEpochMs(end - OVERLAP);
  if (block.resolution !== "raw" || window.start < start || window.end <= end || from <= window.start) {
    return null;
  }
  const tail = { start: from, end: window.end };
  return { window: tail, width: Math.max(MIN_WIDTH, Math.ceil((width * lengthOf(tail)) / lengthOf(window))) };
}

/**
 * Return the block of a window: what is in `block`, and from the start of `tail` on what that has. Missing: null where they do not
 * fit together, so that the whole window must be read: lines that are new or came back, or more samples than fit the width
 */
export function grow(block: SeriesBlock, tail: SeriesBlock, window: Window, width: number): SeriesBlock | null {
  if (tail.resolution !== "raw") {
    return null;
  }
  const cut = fromApi(tail.start);
  const added = new Map(tail.series.map((series) => [keyOf(series), series]));
  const known = new Set(block.series.map(keyOf));
  if (tail.series.some((series) => !known.has(keyOf(series)))) {
    return null;
  }
  const axes = new Map<readonly number[], Map<readonly number[] | undefined, Joint | null>>();
  const grown: Series[] = [];
  for (const series of block.series) {
    const more = added.get(keyOf(series));
    const own = axes.get(series.times) ?? new Map<readonly number[] | undefined, Joint | null>();
    axes.set(series.times, own);
    const joint = own.has(more?.times) ? (own.get(more?.times) ?? null) : jointOf(series.times, more?.times, window.start, cut);
    own.set(more?.times, joint);
    if (joint === null) {
      return null;
    }
    const values = [...series.values.slice(joint.first, joint.last), ...(more?.values ?? [])];
    const n_raw = values.filter((value) => value !== null).length;
    if (n_raw > POINTS_PER_COLUMN * width) {
      return null;
    }
    if (n_raw > 0) {
      grown.push({ ...series, times: joint.times, values, n_raw });
    }
  }
  const n = grown.reduce((sum, { n_raw }) => sum + n_raw, 0);
  return { ...block, start: toIso(window.start), end: toIso(window.end), n_raw: n, n_points: n, series: grown };
}

interface Joint {
  readonly first: number;
  readonly last: number;
  readonly times: readonly number[];
}

/**
 * Return which times of an axis stay, and the times with those of the tail. Missing: null where the tail begins with a time that the
 * axis does not have: there may be a gap
 */
function jointOf(times: readonly number[], tail: readonly number[] | undefined, start: EpochMs, cut: EpochMs): Joint | null {
  const from = times.findIndex((time) => time >= start);
  const first = from === -1 ? times.length : from;
  const at = times.findIndex((time) => time >= cut);
  const last = Math.max(first, at === -1 ? times.length : at);
  const [next] = tail ?? [];
  if (next !== undefined && times[last] !== next) {
    return null;
  }
  return { first, last, times: [...times.slice(first, last), ...(tail ?? [])] };
}

function keyOf({ field, instance }: Pick<Series, "field" | "instance">): string {
  return `${field}\n${instance}`;
}
