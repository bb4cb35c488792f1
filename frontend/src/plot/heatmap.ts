/** Counts of buckets over time as a heatmap. Pure. Colours stand for decades; a cell without a sample stays empty, a count of 0 is not drawn. */

import { type Distribution, gridOf } from "../logic/histogram";
import { inkOf, type Scheme } from "../logic/palette";
import type { Margins } from "../logic/surface";
import type { Window } from "../logic/time";
import type { Zone } from "../logic/zone";
import { baseLayout, type Figure, timeAxis } from "./figure";

export interface HeatmapInput {
  readonly distribution: Distribution;
  readonly window: Window;
  readonly zone: Zone;
  readonly scheme: Scheme;
  readonly margins: Margins;
  readonly width: number;
  readonly height: number;
}

const PIXELS_PER_COLUMN = 4;
const PIXELS_PER_LABEL = 13;
// From pale to strong, even in lightness; after viridis, in both directions of contrast.
const LIGHT = ["#dcebf5", "#9cc7e2", "#4f9bc9", "#1f6aa5", "#0b3c6b"] as const;
const DARK = ["#1d3448", "#27587c", "#3583b3", "#64b3de", "#c9ebff"] as const;

/** The colours' places in the scale of decades. */
function scaleOf(scheme: Scheme): [number, string][] {
  const colors = scheme === "dark" ? DARK : LIGHT;
  return colors.map((color, index) => [index / (colors.length - 1), color]);
}

/** The figure of one distribution. */
export function buildHeatmapFigure(input: HeatmapInput): Figure {
  const { distribution, window, scheme, margins, width, height } = input;
  const ink = inkOf(scheme);
  const innerWidth = width - margins.left - margins.right;
  const nColumns = Math.max(1, Math.floor(innerWidth / PIXELS_PER_COLUMN));
  const { edges, counts } = gridOf(distribution.buckets, window, nColumns);
  const highest = counts.flat().reduce<number>((most, count) => Math.max(most, count ?? 0), 1);
  const nDecades = Math.max(1, Math.ceil(Math.log10(highest)));
  const labels = distribution.buckets.map(({ label }) => label);
  const every = Math.max(1, Math.ceil((labels.length * PIXELS_PER_LABEL) / (height - margins.top - margins.bottom)));
  const shown = labels.flatMap((_, index) => (index % every === 0 ? [index] : []));
  const trace = {
    type: "heatmap" as const,
    x: [...edges],
    y: Array.from({ length: labels.length + 1 }, (_, index) => index - 0.5),
    z: counts.map((row) => row.map((count) => (count === null || count <= 0 ? null : Math.log10(count)))),
    zmin: 0,
    zmax: nDecades,
    colorscale: scaleOf(scheme),
    hoverinfo: "skip" as const,
    colorbar: {
      thickness: 8,
      outlinewidth: 0,
      tickvals: Array.from({ length: nDecades + 1 }, (_, decade) => decade),
      ticktext: Array.from({ length: nDecades + 1 }, (_, decade) => (10 ** decade).toLocaleString("en")),
      tickfont: { size: 10, color: ink.text },
      xpad: 4,
    },
  };
  return {
    data: [trace],
    layout: {
      ...baseLayout(scheme, margins, width, height),
      xaxis: { ...timeAxis(window, input.zone, scheme, innerWidth), showgrid: false },
      yaxis: {
        type: "linear",
        range: [-0.5, Math.max(1, labels.length) - 0.5],
        tickmode: "array",
        tickvals: shown,
        ticktext: shown.map((index) => labels[index] ?? ""),
        tickfont: { size: 10 },
        fixedrange: true,
        showgrid: false,
        zeroline: false,
      },
    },
    axisUnit: "",
  };
}
