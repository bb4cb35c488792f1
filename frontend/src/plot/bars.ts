/** Bars beside each other with their cumulative share: Pareto pictures of tables, and distributions. Pure. */

import type { ScatterData } from "plotly.js";
import { inkOf, type Scheme } from "../logic/palette";
import type { Margins } from "../logic/surface";
import { labelledAxis } from "../logic/unit";
import { baseLayout, type Figure, yAxis } from "./figure";

export interface BarInput {
  readonly values: readonly (number | null)[];
  /** The name of each bar, as much of it as fits. */
  readonly labels: readonly string[];
  /** The share of each bar and all to its left, 0 to 1; null where there is no whole. */
  readonly cumulative: readonly (number | null)[] | null;
  readonly unit: string;
  readonly scheme: Scheme;
  readonly width: number;
  readonly height: number;
  readonly margins: Margins;
}

/** Half of a bar's width; between two bars some room is left. */
const HALF = 0.42;
const PIXELS_PER_VALUE_TICK = 34;
const PIXELS_PER_CHARACTER = 6.6;
const SHARES = [0, 0.5, 0.8, 1] as const;

/** Return which labels have room beside each other: every n-th. */
export function labelStep(labels: readonly string[], innerWidth: number): number {
  const widest = labels.reduce((most, label) => Math.max(most, label.length), 1) * PIXELS_PER_CHARACTER + 8;
  return Math.max(1, Math.ceil((widest * labels.length) / Math.max(1, innerWidth)));
}

/** Return the figure of bars; the cumulative share has its own axis at the right. */
export function buildBarFigure(input: BarInput): Figure {
  const { values, labels, cumulative, unit, scheme, width, height, margins } = input;
  const ink = inkOf(scheme);
  const highest = values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
  const lowest = values.reduce<number>((least, value) => Math.min(least, value ?? 0), 0);
  const room = height - margins.top - margins.bottom;
  const axis = labelledAxis(
    lowest,
    highest === 0 && lowest === 0 ? 1 : highest,
    unit,
    Math.max(2, Math.floor(room / PIXELS_PER_VALUE_TICK)),
  );
  const every = labelStep(labels, width - margins.left - margins.right);
  const shown = labels.flatMap((_, index) => (index % every === 0 ? [index] : []));
  const bars: Partial<ScatterData> = {
    type: "scatter",
    mode: "lines",
    x: values.flatMap((_, index) => [index - HALF, index - HALF, index + HALF, index + HALF, index - HALF, null]),
    y: values.flatMap((value) => (value === null ? [null, null, null, null, null, null] : [0, value, value, 0, 0, null])),
    fill: "toself",
    fillcolor: ink.baseline,
    line: { width: 0, color: ink.baseline },
    hoverinfo: "skip",
    showlegend: false,
  };
  const line: Partial<ScatterData> = {
    type: "scatter",
    mode: "lines+markers",
    x: values.map((_, index) => index),
    y: [...(cumulative ?? [])],
    yaxis: "y2",
    line: { width: 1.6, color: ink.incident },
    marker: { size: values.length > 60 ? 1 : 4, color: ink.incident },
    hoverinfo: "skip",
    showlegend: false,
  };
  return {
    data: cumulative === null ? [bars] : [bars, line],
    layout: {
      ...baseLayout(scheme, margins, width, height),
      xaxis: {
        type: "linear",
        range: [-0.6, Math.max(1, values.length) - 0.4],
        tickmode: "array",
        tickvals: shown,
        ticktext: shown.map((index) => labels[index] ?? ""),
        tickangle: 0,
        ticklabeloverflow: "allow",
        fixedrange: true,
        showgrid: false,
        zeroline: false,
      },
      yaxis: yAxis(axis, scheme),
      ...(cumulative === null
        ? {}
        : {
            yaxis2: {
              type: "linear",
              overlaying: "y",
              side: "right",
              range: [0, 1.02],
              tickmode: "array",
              tickvals: [...SHARES],
              ticktext: SHARES.map((share) => `${String(share * 100)} %`),
              ticklabeloverflow: "allow",
              tickfont: { size: 10, color: ink.incident },
              fixedrange: true,
              showgrid: false,
              zeroline: false,
            },
          }),
    },
    axisUnit: axis.unit,
    scale: axis.scale,
    newest: null,
    traces: new Map(),
  };
}
