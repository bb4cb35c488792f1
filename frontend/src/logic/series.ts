/** Reading values off series: the sample at the crosshair, extremes, pieces between gaps. */

import type { FieldInfo } from "./api";
import type { Series, SeriesBlock } from "./block";
import { formatCount } from "./number";
import { meantSlot } from "./palette";
import { type EpochMs, fromApi, type Window } from "./time";
import { counted } from "./counted";

/** Return the first index whose time is not before `at`. */
export function lowerBound(times: readonly number[], at: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** Return the sample nearest to an instant, at most `tolerance_ms` away. Missing: null, also if the nearest point is a gap. */
export function sampleAt(
  series: Pick<Series, "times" | "values">,
  at: EpochMs,
  tolerance_ms: number,
): { readonly time: number; readonly value: number } | null {
  const right = lowerBound(series.times, at);
  let best: { time: number; value: number } | null = null;
  let distance = Number.POSITIVE_INFINITY;
  for (const index of [right - 1, right]) {
    const time = series.times[index];
    if (time !== undefined && Math.abs(time - at) <= tolerance_ms && Math.abs(time - at) < distance) {
      const value = series.values[index] ?? null;
      distance = Math.abs(time - at);
      best = value === null ? null : { time, value };
    }
  }
  return best;
}

/** Return the typical interval of samples without a gap between them: the lower median; null if there are no two such samples. */
export function typicalStep({ times, values }: Pick<Series, "times" | "values">): number | null {
  const steps: number[] = [];
  for (let index = 1; index < times.length; index += 1) {
    if ((values[index - 1] ?? null) !== null && (values[index] ?? null) !== null) {
      steps.push((times[index] ?? 0) - (times[index - 1] ?? 0));
    }
  }
  steps.sort((a, b) => a - b);
  return steps[(steps.length - 1) >> 1] ?? null;
}

/** Return how far the crosshair may be from the sample it reads: most of an interval, or half a dozen pixels. */
export function readingTolerance(series: Pick<Series, "times" | "values">, pixel_ms: number): number {
  return Math.max(6 * pixel_ms, 0.75 * (typicalStep(series) ?? 0));
}

export interface Extremes {
  readonly lowest: number | null;
  readonly highest: number | null;
  readonly last: number | null;
}

/** Return the extremes of a series; exact for envelopes too, which hold the lowest and highest sample of each pixel. */
export function extremesOf(values: readonly (number | null)[]): Extremes {
  let lowest: number | null = null;
  let highest: number | null = null;
  let last: number | null = null;
  for (const value of values) {
    if (value !== null) {
      lowest = lowest === null || value < lowest ? value : lowest;
      highest = highest === null || value > highest ? value : highest;
      last = value;
    }
  }
  return { lowest, highest, last };
}

/** Return the pieces between gaps as index ranges [from, to). */
export function piecesOf(values: readonly (number | null)[]): readonly (readonly [number, number])[] {
  const pieces: [number, number][] = [];
  let from = -1;
  for (let index = 0; index <= values.length; index += 1) {
    const isValue = index < values.length && (values[index] ?? null) !== null;
    if (isValue && from < 0) {
      from = index;
    } else if (!isValue && from >= 0) {
      pieces.push([from, index]);
      from = -1;
    }
  }
  return pieces;
}

/** Return a series' name in the legend: column, instance, or both, whichever is unique within the panel. */
export function seriesName(column: string, instance: string, nFields: number, nInstances: number): string {
  if (instance === "" || (nInstances <= 1 && nFields > 1)) {
    return column;
  }
  return nFields <= 1 ? instance : `${instance} ${column}`;
}

type Resolved = Pick<SeriesBlock, "resolution" | "source" | "n_points" | "n_raw" | "series">;

/** Return the number of samples as text; the response counts values if a sample has several fields. */
function describeRaw({ series, n_raw }: Resolved): string {
  return new Set(series.map(({ field }) => field)).size > 1 ? counted(n_raw, "value") : counted(n_raw, "sample");
}

const SOURCES: Readonly<Record<SeriesBlock["source"], string>> = {
  raw: "raw",
  rollup_minute: "from minutes",
  rollup_hour: "from hours",
  mixed: "from rollups and raw",
};

/** Return the resolution of a graph as text: `raw: all 900 samples`, or the source, the number of points and their selection. */
export function describeResolution(block: Resolved): string {
  if (block.resolution === "raw") {
    return block.n_raw === 0 ? "no samples" : `raw: all ${describeRaw(block)}`;
  }
  const counts = `${formatCount(block.n_points)} of ${describeRaw(block)}`;
  return `${SOURCES[block.source]}: ${counts}, extremes of each pixel`;
}

/** Return the line above a graph: its resolution and the number of instances not drawn. */
export function describeBlock(block: Resolved & Pick<SeriesBlock, "n_instances_left_out">): string {
  const left = block.n_instances_left_out;
  return left === 0 ? describeResolution(block) : `${describeResolution(block)}; ${counted(left, "instance")} not drawn`;
}

/** Return the fetched window, which may differ from the visible one. */
export function windowOf(block: Pick<SeriesBlock, "start" | "end">): Window {
  return { start: fromApi(block.start), end: fromApi(block.end) };
}

/** Return the time of the newest point; null without points. */
export function newestTime({ series }: Pick<SeriesBlock, "series">): number | null {
  const last = series.flatMap(({ times }) => times.at(-1) ?? []);
  return last.length === 0 ? null : Math.max(...last);
}

/** Return whether no series of the block has a value. */
export function isBlockEmpty(block: Pick<SeriesBlock, "series">): boolean {
  return !block.series.some(({ values }) => values.some((value) => value !== null));
}

/** Return the number of instances in the window, also of those that are not drawn. */
export function instancesIn(block: Pick<SeriesBlock, "series" | "n_instances_left_out">): number {
  return new Set(block.series.map(({ instance }) => instance)).size + block.n_instances_left_out;
}

export interface TableRow {
  readonly time: EpochMs;
  readonly values: readonly (number | null)[];
}

/** Return the points of a block as table rows: at most `most` rows from the end of the window. */
export function tableRows(block: Pick<SeriesBlock, "series">, most: number): readonly TableRow[] {
  const rows = new Map<number, (number | null)[]>();
  for (const [column, series] of block.series.entries()) {
    for (const [index, time] of series.times.entries()) {
      const row = rows.get(time) ?? block.series.map(() => null);
      row[column] = series.values[index] ?? null;
      rows.set(time, row);
    }
  }
  return [...rows]
    .sort(([a], [b]) => b - a)
    .filter(([, values]) => values.some((value) => value !== null))
    .slice(0, most)
    .map(([time, values]) => ({ time: time as EpochMs, values }));
}

export interface LegendEntry extends Extremes {
  /** The key of the series, independent of its position in a response. */
  readonly key: string;
  readonly name: string;
  readonly field: FieldInfo;
  readonly series: Series;
  /** The maximum distance between the crosshair and the sample it reads. */
  readonly tolerance_ms: number;
  /** The value at the newest time of the panel; null for a series that ended before. */
  readonly newest: number | null;
}

/** Return the entries of a panel's legend, in the order of the block's series. */
export function legendOf(block: SeriesBlock, fields: readonly FieldInfo[], pixel_ms: number): readonly LegendEntry[] {
  const nInstances = new Set(block.series.map(({ instance }) => instance)).size;
  const end = Math.max(0, ...block.series.map(({ times }) => times.at(-1) ?? 0)) as EpochMs;
  return block.series.flatMap((series) => {
    const field = fields.find(({ key }) => key === series.field);
    const tolerance_ms = readingTolerance(series, pixel_ms);
    return field === undefined
      ? []
      : [
          {
            key: seriesKey(series),
            name: seriesName(field.column, series.instance, fields.length, nInstances),
            field,
            series,
            tolerance_ms,
            newest: sampleAt(series, end, tolerance_ms)?.value ?? null,
            ...extremesOf(series.values),
          },
        ];
  });
}

/** Return the entries with what is known of their instances: `2 (set 1)`. */
export function labelEntries(entries: readonly LegendEntry[], labels: ReadonlyMap<string, string>): readonly LegendEntry[] {
  return labels.size === 0
    ? entries
    : entries.map((entry) => {
        const label = labels.get(entry.series.instance) ?? "";
        return label === "" ? entry : { ...entry, name: `${entry.name} (${label})` };
      });
}

/** Toggle a line of the legend; with `alone`, show only this line, or all lines again. */
export function toggled(hidden: ReadonlySet<string>, key: string, all: readonly string[], isAlone: boolean): ReadonlySet<string> {
  if (isAlone) {
    const others = all.filter((each) => each !== key);
    const isAlreadyAlone = !hidden.has(key) && others.every((each) => hidden.has(each));
    return new Set(isAlreadyAlone ? [] : others);
  }
  const next = new Set(hidden);
  if (!next.delete(key)) {
    next.add(key);
  }
  return next;
}

/** Return the key of a series within its panel. */
export function seriesKey(series: Pick<Series, "instance" | "field">): string {
  return `${series.field} ${series.instance}`;
}

/**
 * Return the palette index of each series. A series keeps its index while others come and go (as in the top 5 of a live page);
 * a new one takes the index that its meaning has (`meant`), or else the first free one. Returns the same map if nothing changed.
 */
export function assignSlots(
  before: ReadonlyMap<string, number>,
  keys: readonly string[],
  meant: ReadonlyMap<string, number> = new Map(),
): ReadonlyMap<string, number> {
  if (keys.every((key) => before.has(key))) {
    return before;
  }
  const next = new Map([...before].filter(([key]) => keys.includes(key)));
  const taken = new Set(next.values());
  for (const key of keys) {
    const slot = meant.get(key);
    if (!next.has(key) && slot !== undefined && !taken.has(slot)) {
      taken.add(slot);
      next.set(key, slot);
    }
  }
  let free = 0;
  for (const key of keys) {
    if (!next.has(key)) {
      while (taken.has(free)) {
        free += 1;
      }
      taken.add(free);
      next.set(key, free);
    }
  }
  return next;
}

/** Return the palette index of each series whose field has a colour of its own by its meaning; not where it tells instances apart. */
export function meantSlots(
  series: readonly Pick<Series, "field" | "instance">[],
  fields: readonly Pick<FieldInfo, "key" | "meanings">[],
): ReadonlyMap<string, number> {
  const slots = new Map(fields.map(({ key, meanings }) => [key, meantSlot(meanings)]));
  return new Map(
    series.flatMap((each) => {
      const slot = slots.get(each.field) ?? null;
      return slot === null || fields.length === 1 ? [] : [[seriesKey(each), slot]];
    }),
  );
}

/** Return the time of the sample after (1) or before (-1) an instant, or else of the last or first one; null without samples. */
export function nextSampleTime(block: Pick<SeriesBlock, "series">, at: EpochMs | null, direction: -1 | 1): EpochMs | null {
  let best: number | null = null;
  for (const { times } of block.series) {
    const index =
      at === null
        ? direction > 0
          ? 0
          : times.length - 1
        : lowerBound(times, direction > 0 ? at + 1 : at) - (direction > 0 ? 0 : 1);
    const time = times[index];
    if (time !== undefined && (best === null || (direction > 0 ? time < best : time > best))) {
      best = time;
    }
  }
  return best === null ? at : (best as EpochMs);
}
