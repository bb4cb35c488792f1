/** Geometry of a graph: between pixels and instants. The margins are fixed, so that every layer agrees about them. */

import { type EpochMs, toEpochMs, type Window, windowBetween } from "./time";

export interface Margins {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export const PANEL_MARGINS: Margins = { left: 58, right: 12, top: 20, bottom: 20 };
/** Room for the labels of buckets at the left and the scale of counts at the right. */
export const HEATMAP_MARGINS: Margins = { left: 88, right: 64, top: 8, bottom: 20 };

const HEATMAP_HEIGHT = 220;
// A row that is thinner shows nothing, and CPUs of large hosts are many.
const ROW_HEIGHT = 5;
const TALLEST = 560;

/** The height of a heatmap with so many rows. */
export function heatmapHeight(nRows: number): number {
  const { top, bottom } = HEATMAP_MARGINS;
  return Math.min(TALLEST, Math.max(HEATMAP_HEIGHT, nRows * ROW_HEIGHT + top + bottom));
}

/** A drag shorter than this many pixels is a click. */
export const MIN_DRAG_PX = 5;

export function plotWidth(width: number, margins: Margins): number {
  return Math.max(1, width - margins.left - margins.right);
}

// A graph that grows by a few pixels asks for nothing new; columns are a little narrower than pixels instead.
const WIDTH_STEP = 32;

/** The width that a request names: whole steps of pixels, never fewer than there are, within what the API takes. */
export function requestWidth(width: number): number {
  return Math.min(8000, Math.max(1, Math.ceil(width / WIDTH_STEP)) * WIDTH_STEP);
}

/** The instant under a pixel counted from the graph's left edge, held inside the window. */
export function timeAtPixel(x: number, width: number, margins: Margins, window: Window): EpochMs {
  const share = Math.min(1, Math.max(0, (x - margins.left) / plotWidth(width, margins)));
  return toEpochMs(window.start + share * (window.end - window.start));
}

/** The instant that the crosshair shows for a pixel. Missing: null beside the drawn part. */
export function hoveredTime(x: number, width: number, margins: Margins, window: Window): EpochMs | null {
  const isBeside = x < margins.left - 2 || x > width - margins.right + 2;
  return isBeside ? null : timeAtPixel(x, width, margins, window);
}

/** The pixel of an instant, counted from the graph's left edge. Missing: null outside the window. */
export function pixelOfTime(at: EpochMs, width: number, margins: Margins, window: Window): number | null {
  if (at < window.start || at > window.end) {
    return null;
  }
  return margins.left + ((at - window.start) / (window.end - window.start)) * plotWidth(width, margins);
}

/** Left edge and width, in shares of the drawn window, of the part of a band that is inside. Missing: null when none of it is. */
export function bandShare(band: Window, window: Window): { readonly left: number; readonly width: number } | null {
  const from = Math.max(band.start, window.start);
  const to = Math.min(band.end, window.end);
  const length = window.end - window.start;
  return to <= from || length <= 0 ? null : { left: (from - window.start) / length, width: (to - from) / length };
}

/** Milliseconds that one pixel stands for. */
export function pixelMs(width: number, margins: Margins, window: Window): number {
  return (window.end - window.start) / plotWidth(width, margins);
}

/** The window that a drag between two pixels selects. Missing: null when it was too short to be meant. */
export function dragWindow(from: number, to: number, width: number, margins: Margins, window: Window): Window | null {
  if (Math.abs(to - from) < MIN_DRAG_PX) {
    return null;
  }
  const dragged = windowBetween(timeAtPixel(from, width, margins, window), timeAtPixel(to, width, margins, window));
  return dragged.end > dragged.start ? dragged : null;
}

/** How a drawing of one window is moved and stretched to show another until it is drawn again: x' = x * scale + shift_px. */
export function stretchOf(drawn: Window, view: Window, width_px: number): { readonly scale: number; readonly shift_px: number } {
  const length = view.end - view.start;
  return { scale: (drawn.end - drawn.start) / length, shift_px: ((drawn.start - view.start) / length) * width_px };
}

/** `12.5%` for styles. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(4)}%`;
}
