/** Heatmaps over time. Pure. A cell shows the highest (or lowest) sample in its time span; a cell without samples stays empty. */

import { type Columns, columnsFor, type Distribution, type Grid, gridOf } from "../logic/histogram";
import { inkOf, type Scheme } from "../logic/palette";
import { lowerBound } from "../logic/series";
import type { Margins } from "../logic/surface";
import type { Window } from "../logic/time";
import { formatWithUnit } from "../logic/number";
import { labelledAxis, logAxis, PLAIN_SCALE } from "../logic/unit";
import type { Zone } from "../logic/zone";
import { baseLayout, type Figure, timeAxis } from "./figure";

/**
 * The meaning of the colours: decades of counts (0 is not drawn), values of a unit from zero upwards, or their logarithm, with a known
 * value marked on the scale: paler cells are below it, stronger ones above.
 */
export type HeatmapScale =
  | { readonly kind: "decades" }
  | { readonly kind: "values"; readonly unit: string }
  | { readonly kind: "logarithm"; readonly unit: string; readonly reference: number | null };

export interface HeatmapInput {
  readonly distribution: Distribution;
  readonly scale: HeatmapScale;
  /** The sample that a cell shows: worse values must not be hidden by better ones. */
  readonly pick: "highest" | "lowest";
  /** The columns whose extremes the points are; null if all samples are present. */
  readonly columns: Columns | null;
  readonly window: Window;
  readonly zone: Zone;
  readonly scheme: Scheme;
  readonly margins: Margins;
  readonly width: number;
  readonly height: number;
}

/** The width of a cell in pixels; narrower cells show no more. */
export const PIXELS_PER_COLUMN = 4;
const PIXELS_PER_LABEL = 13;
// From pale to strong with even lightness, based on viridis, for both colour schemes.
const LIGHT = ["#dcebf5", "#9cc7e2", "#4f9bc9", "#1f6aa5", "#0b3c6b"] as const;
const DARK = ["#1d3448", "#27587c", "#3583b3", "#64b3de", "#c9ebff"] as const;

/** Return the colours of a scale from pale to strong, by their positions. */
export function scaleOf(scheme: Scheme): [number, string][] {
  const colors = scheme === "dark" ? DARK : LIGHT;
  return colors.map((color, index) => [index / (colors.length - 1), color]);
}

// The colour of the reference is the middle one; each half of the scale has its own steepness.
const MIDDLE = 0.5;

/** Return the scale of colours of logarithms, in which the reference has the middle colour. */
function scaleAround(scheme: Scheme, { zmin, zmax }: Pick<Colours, "zmin" | "zmax">, middle: number): [number, string][] {
  const place = (middle - zmin) / (zmax - zmin);
  return scaleOf(scheme).map(([at, color]) => [
    at <= MIDDLE ? (at / MIDDLE) * place : place + ((at - MIDDLE) / MIDDLE) * (1 - place),
    color,
  ]);
}

type Cells = readonly (readonly (number | null)[])[];

interface Colours {
  readonly z: (number | null)[][];
  readonly zmin: number;
  readonly zmax: number;
  readonly ticks: readonly number[];
  readonly labels: readonly string[];
}

function extentOf(cells: Cells): readonly [number, number] {
  let low = 0;
  let high = 0;
  for (const row of cells) {
    for (const value of row) {
      low = Math.min(low, value ?? low);
      high = Math.max(high, value ?? high);
    }
  }
  return [low, high];
}

/** Return the lowest and highest value above 0, and the reference; null without any. */
function positiveExtent(cells: Cells, reference: number | null): readonly [number, number] | null {
  const values = [...cells.flat(), reference].filter((value): value is number => value !== null && value > 0);
  return values.length === 0 ? null : [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
}

/** Colours of the logarithm; a 0 has the palest. */
function logarithmic(cells: Cells, unit: string, reference: number | null): Colours | null {
  const extent = positiveExtent(cells, reference);
  if (extent === null) {
    return null;
  }
  const axis = logAxis(...extent, unit);
  const [zmin, zmax] = [Math.log10(axis.low), Math.log10(axis.high)];
  const own = reference === null ? [] : [{ tick: reference, label: `◄ ${formatWithUnit(reference, 0, unit)}` }];
  const far = (tick: number): boolean => reference === null || Math.abs(Math.log10(tick / reference)) > (zmax - zmin) / 12;
  const ticks = axis.ticks
    .map((tick, index) => ({
      tick,
      label: `${axis.labels[index] ?? ""}${index === axis.ticks.length - 1 ? ` ${axis.unit}` : ""}`,
    }))
    .filter(({ tick }) => far(tick));
  const all = [...ticks, ...own].sort((a, b) => a.tick - b.tick);
  return {
    z: cells.map((row) => row.map((value) => (value === null ? null : value > 0 ? Math.log10(value) : zmin))),
    zmin,
    zmax,
    ticks: all.map(({ tick }) => Math.log10(tick)),
    labels: all.map(({ label }) => label),
  };
}

function coloursOf(cells: Cells, scale: HeatmapScale): Colours {
  const [low, high] = extentOf(cells);
  const colours = scale.kind === "logarithm" ? logarithmic(cells, scale.unit, scale.reference) : null;
  if (colours !== null) {
    return colours;
  }
  if (scale.kind !== "decades") {
    const isWhole = scale.unit === "%" && low >= 0 && high > 50 && high <= 120;
    const axis = labelledAxis(low, isWhole ? 100 : high, scale.unit, 4);
    const labels = axis.labels.map((label, index) => (index === axis.labels.length - 1 ? `${label} ${axis.unit}` : label));
    return { z: cells.map((row) => [...row]), zmin: axis.low, zmax: Math.max(axis.high, high), ticks: axis.ticks, labels };
  }
  const nDecades = Math.max(1, Math.ceil(Math.log10(Math.max(1, high))));
  const ticks = Array.from({ length: nDecades + 1 }, (_, decade) => decade);
  return {
    z: cells.map((row) => row.map((count) => (count === null || count <= 0 ? null : Math.log10(count)))),
    zmin: 0,
    zmax: nDecades,
    ticks,
    labels: ticks.map((decade) => (10 ** decade).toLocaleString("en")),
  };
}

/** A heatmap, and the values of its cells. */
export interface HeatmapFigure extends Figure {
  readonly cells: HeatmapCells;
}

/** The cells as `gridOf` lays them out, with the name of each row. */
export interface HeatmapCells extends Grid {
  readonly labels: readonly string[];
}

export interface Cell {
  readonly label: string;
  readonly start: number;
  readonly end: number;
  readonly value: number;
}

/** Return the cell at an instant and a height of the plot area (0 at the bottom, 1 at the top). Missing: null for an empty one. */
export function cellAt({ edges, counts, labels }: HeatmapCells, at: number, share: number): Cell | null {
  const row = Math.floor(share * labels.length);
  const column = lowerBound(edges, at + 1) - 1;
  const [start, end] = [edges[column], edges[column + 1]];
  const [label, value] = [labels[row], counts[row]?.[column] ?? null];
  return label === undefined || value === null || start === undefined || end === undefined ? null : { label, start, end, value };
}

/** Return the figure of one distribution, or of all instances of a field. */
export function buildHeatmapFigure(input: HeatmapInput): HeatmapFigure {
  const { distribution, window, scheme, margins, width, height } = input;
  const ink = inkOf(scheme);
  const innerWidth = width - margins.left - margins.right;
  const most = Math.max(1, Math.floor(innerWidth / PIXELS_PER_COLUMN));
  const columns = input.columns ?? columnsFor(distribution.buckets, window, most);
  const { edges, counts } = gridOf(distribution.buckets, columns, input.pick);
  const { z, zmin, zmax, ticks, labels: scaleLabels } = coloursOf(counts, input.scale);
  const reference = input.scale.kind === "logarithm" ? input.scale.reference : null;
  const labels = distribution.buckets.map(({ label }) => label);
  const every = Math.max(1, Math.ceil((labels.length * PIXELS_PER_LABEL) / (height - margins.top - margins.bottom)));
  const shown = labels.flatMap((_, index) => (index % every === 0 ? [index] : []));
  const trace = {
    type: "heatmap" as const,
    x: [...edges],
    y: Array.from({ length: labels.length + 1 }, (_, index) => index - 0.5),
    z,
    zmin,
    zmax,
    colorscale: reference === null ? scaleOf(scheme) : scaleAround(scheme, { zmin, zmax }, Math.log10(reference)),
    hoverinfo: "skip" as const,
    colorbar: {
      thickness: 8,
      outlinewidth: 0,
      tickvals: [...ticks],
      ticktext: [...scaleLabels],
      tickfont: { size: 10, color: ink.text },
      xpad: 4,
    },
  };
  return {
    data: [trace],
    layout: {
      ...baseLayout(scheme, margins, width, height),
      xaxis: { ...timeAxis(window, input.zone, scheme, width, margins), showgrid: false },
      yaxis: {
        type: "linear",
        range: [-0.5, Math.max(1, labels.length) - 0.5],
        tickmode: "array",
        tickvals: shown,
        ticktext: shown.map((index) => labels[index] ?? ""),
        tickfont: { size: 10 },
        ticklabeloverflow: "allow",
        fixedrange: true,
        showgrid: false,
        zeroline: false,
      },
    },
    axisUnit: "",
    scale: PLAIN_SCALE,
    newest: null,
    traces: new Map(),
    cells: { edges, counts, labels },
  };
}
