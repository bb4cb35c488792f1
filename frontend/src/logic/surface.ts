/** The geometry of a graph: pixels and instants. The margins are fixed, so that all layers agree. */

import { type EpochMs, toEpochMs, type Window, windowBetween } from "./time";

export interface Margins {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export const PANEL_MARGINS: Margins = { left: 58, right: 12, top: 20, bottom: 20 };
/** Leaves room for bucket labels on the left and the colour scale on the right. */
export const HEATMAP_MARGINS: Margins = { left: 88, right: 64, top: 8, bottom: 20 };

/** Of a heatmap of hosts: leaves room for their names. */
export const HOST_HEATMAP_MARGINS: Margins = { ...HEATMAP_MARGINS, left: 150 };
export const SMALL_GRAPH_MARGINS: Margins = { left: 52, right: 10, top: 8, bottom: 20 };

// A row must be high enough for the name of its host.
const HOST_ROW_HEIGHT = 15;

/** Return the height of a heatmap of hosts: a row for each name. */
export function hostHeatmapHeight(nRows: number): number {
  const { top, bottom } = HEATMAP_MARGINS;
  return Math.max(110, nRows * HOST_ROW_HEIGHT + top + bottom);
}

const PIXELS_PER_CELL = 4;

/** Return the number of cells of a heatmap that fit into a width. */
export function heatmapColumnCount(width: number, margins: Margins): number {
  return Math.max(1, Math.floor(plotWidth(width, margins) / PIXELS_PER_CELL));
}

const SMALL_GRAPH_WIDTH = 340;
const SMALL_GRAPH_GAP = 8;

/** Return the width of each small graph, with as many in a row as fit. */
export function smallGraphWidth(width: number): number {
  const n = Math.max(1, Math.floor((width + SMALL_GRAPH_GAP) / (SMALL_GRAPH_WIDTH + SMALL_GRAPH_GAP)));
  return Math.floor((width - (n - 1) * SMALL_GRAPH_GAP) / n);
}

const GRID = { columns: 3, height: 130, gap: 12, caption: 18, descent: 5 };

/** Where small graphs stand in a picture, each below its caption; all sizes in pixels. */
export interface Grid {
  readonly cell: { readonly width: number; readonly height: number };
  /** Height of a caption, and the height in it at which its text stands. */
  readonly caption: number;
  readonly baseline: number;
  readonly height: number;
  readonly placeOf: (index: number) => { readonly x: number; readonly y: number };
}

/** Return the grid of `n` small graphs in a width. */
export function gridOf(n: number, width: number): Grid {
  const { height, gap, caption } = GRID;
  const columns = Math.max(1, Math.min(GRID.columns, n));
  const cell = { width: Math.floor((width - (columns - 1) * gap) / columns), height };
  return {
    cell,
    caption,
    baseline: caption - GRID.descent,
    height: Math.ceil(n / columns) * (height + caption),
    placeOf: (index) => ({ x: (index % columns) * (cell.width + gap), y: Math.floor(index / columns) * (height + caption) }),
  };
}

/** A drag shorter than this many pixels is a click. */
export const MIN_DRAG_PX = 5;

export function plotWidth(width: number, margins: Margins): number {
  return Math.max(1, width - margins.left - margins.right);
}

export function plotHeight(height: number, margins: Margins): number {
  return Math.max(1, height - margins.top - margins.bottom);
}

// Growing by a few pixels causes no new request; columns are slightly narrower than pixels instead.
const WIDTH_STEP = 32;

/** Return the width to request: rounded up to whole steps, within the limits of the API. */
export function requestWidth(width: number): number {
  return Math.min(8000, Math.max(1, Math.ceil(width / WIDTH_STEP)) * WIDTH_STEP);
}

/** Return the instant at a pixel, counted from the graph's left edge and clamped to the window. */
export function timeAtPixel(x: number, width: number, margins: Margins, window: Window): EpochMs {
  const share = Math.min(1, Math.max(0, (x - margins.left) / plotWidth(width, margins)));
  return toEpochMs(window.start + share * (window.end - window.start));
}

/** Return the instant of the crosshair at a pixel; null outside the plot area. */
export function hoveredTime(x: number, width: number, margins: Margins, window: Window): EpochMs | null {
  const isBeside = x < margins.left - 2 || x > width - margins.right + 2;
  return isBeside ? null : timeAtPixel(x, width, margins, window);
}

/** Return the pixel of an instant, counted from the graph's left edge; null outside the window. */
export function pixelOfTime(at: EpochMs, width: number, margins: Margins, window: Window): number | null {
  if (at < window.start || at > window.end) {
    return null;
  }
  return margins.left + ((at - window.start) / (window.end - window.start)) * plotWidth(width, margins);
}

/** Return the left edge and width of the visible part of a band, as shares of the drawn window; null if none is visible. */
export function bandShare(band: Window, window: Window): { readonly left: number; readonly width: number } | null {
  const from = Math.max(band.start, window.start);
  const to = Math.min(band.end, window.end);
  const length = window.end - window.start;
  return to <= from || length <= 0 ? null : { left: (from - window.start) / length, width: (to - from) / length };
}

/** Return the milliseconds per pixel. */
export function pixelMs(width: number, margins: Margins, window: Window): number {
  return (window.end - window.start) / plotWidth(width, margins);
}

/** Return the window selected by a drag between two pixels; null if the drag is too short. */
export function dragWindow(from: number, to: number, width: number, margins: Margins, window: Window): Window | null {
  if (Math.abs(to - from) < MIN_DRAG_PX) {
    return null;
  }
  const dragged = windowBetween(timeAtPixel(from, width, margins, window), timeAtPixel(to, width, margins, window));
  return dragged.end > dragged.start ? dragged : null;
}

/** Return the transformation that shows the drawing of one window in another until it is redrawn: x' = x * scale + shift_px. */
export function stretchOf(drawn: Window, view: Window, width_px: number): { readonly scale: number; readonly shift_px: number } {
  const length = view.end - view.start;
  return { scale: (drawn.end - drawn.start) / length, shift_px: ((drawn.start - view.start) / length) * width_px };
}

const TIP_HEIGHT = 60;

/** Return where a tooltip stands in a graph: beside the point, on the side with more room, inside the graph. */
export function tipPlace(
  x: number,
  y: number,
  width: number,
  height: number,
): { readonly top: number; readonly left?: number; readonly right?: number } {
  const top = Math.max(4, Math.min(y - 14, height - TIP_HEIGHT));
  return x > width / 2 ? { top, right: width - x + 10 } : { top, left: x + 10 };
}

/** Return the share of a graph's plot area below a pixel: 0 at its bottom, 1 at its top. */
export function shareAtPixel(y: number, height: number, { top, bottom }: Margins): number {
  return 1 - (y - top) / Math.max(1, height - top - bottom);
}

const MIN_SHEET = 150;

/** Where a sheet over the page stands, so that it does not cover a graph: the edge with more room, and at most so high. */
export function dockOf(
  graph: { readonly top: number; readonly bottom: number },
  page: { readonly top: number; readonly bottom: number },
): { readonly edge: "top" | "bottom"; readonly height: number } {
  const [above, below] = [graph.top - page.top, page.bottom - graph.bottom];
  return { edge: above > below ? "top" : "bottom", height: Math.max(MIN_SHEET, Math.max(above, below) - 16) };
}

/** Return a share as CSS percentage: `12.5%`. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(4)}%`;
}
