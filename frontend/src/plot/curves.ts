/** Curves over named columns, such as throughput by record length. Pure. A missing value is a gap. */

import type { Scheme, Stroke } from "../logic/palette";
import type { Margins } from "../logic/surface";
import { labelledAxis } from "../logic/unit";
import { labelStep } from "./bars";
import { baseLayout, type Figure, yAxis } from "./figure";

export interface CurveInput {
  readonly columns: readonly string[];
  readonly lines: readonly { readonly values: readonly (number | null)[]; readonly stroke: Stroke }[];
  readonly unit: string;
  readonly scheme: Scheme;
  readonly width: number;
  readonly height: number;
  readonly margins: Margins;
}

const PIXELS_PER_VALUE_TICK = 34;

/** Return the figure of the curves, from 0 up. */
export function buildCurveFigure({ columns, lines, unit, scheme, width, height, margins }: CurveInput): Figure {
  const highest = lines.flatMap(({ values }) => values).reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
  const room = height - margins.top - margins.bottom;
  const axis = labelledAxis(0, highest === 0 ? 1 : highest, unit, Math.max(2, Math.floor(room / PIXELS_PER_VALUE_TICK)));
  const every = labelStep(columns, width - margins.left - margins.right);
  const shown = columns.flatMap((_, index) => (index % every === 0 ? [index] : []));
  return {
    data: lines.map(({ values, stroke }) => ({
      type: "scatter",
      mode: "lines+markers",
      x: columns.map((_, index) => index),
      y: [...values],
      connectgaps: false,
      line: { width: 1.8, color: stroke.color, dash: stroke.dash },
      marker: { size: 5, color: stroke.color },
      hoverinfo: "skip",
      showlegend: false,
    })),
    layout: {
      ...baseLayout(scheme, margins, width, height),
      xaxis: {
        type: "linear",
        range: [-0.4, Math.max(1, columns.length) - 0.6],
        tickmode: "array",
        tickvals: shown,
        ticktext: shown.map((index) => columns[index] ?? ""),
        tickangle: 0,
        ticklabeloverflow: "allow",
        fixedrange: true,
        showgrid: false,
        zeroline: false,
      },
      yaxis: yAxis(axis, scheme),
    },
    axisUnit: axis.unit,
    scale: axis.scale,
    newest: null,
    traces: new Map(),
  };
}
