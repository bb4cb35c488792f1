/** Curves over named columns, such as throughput by record length. Pure. A missing value is a gap. */

import type { Scheme, Stroke } from "../logic/palette";
import type { Margins } from "../logic/surface";
import { labelledAxis } from "../logic/unit";
import { labelStep } from "./bars";
import { baseLayout, type Figure, yAxis } from "./figure";

export interface CurveInput {
  readonly columns: readonly string[];
  /** Where each column stands, in ascending order; without them at equal distances. */
  readonly places?: readonly number[];
  readonly lines: readonly { readonly values: readonly (number | null)[]; readonly stroke: Stroke }[];
  readonly unit: string;
  readonly scheme: Scheme;
  readonly width: number;
  readonly height: number;
  readonly margins: Margins;
}

const PIXELS_PER_VALUE_TICK = 34;
/** More points than this are a line without marks. */
const MAX_MARKED = 80;
/** Room on both sides of the columns, in their mean distance. */
const ROOM = 0.4;

/** Return the figure of the curves, from 0 up. */
export function buildCurveFigure({ columns, places, lines, unit, scheme, width, height, margins }: CurveInput): Figure {
  const xs = places ?? columns.map((_, index) => index);
  const first = xs[0] ?? 0;
  const last = xs.at(-1) ?? first;
  const room = last > first ? ((last - first) / (xs.length - 1)) * ROOM : ROOM;
  const highest = lines.flatMap(({ values }) => values).reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
  const high = height - margins.top - margins.bottom;
  const axis = labelledAxis(0, highest === 0 ? 1 : highest, unit, Math.max(2, Math.floor(high / PIXELS_PER_VALUE_TICK)));
  const every = labelStep(columns, width - margins.left - margins.right);
  const shown = columns.flatMap((_, index) => (index % every === 0 ? [index] : []));
  return {
    data: lines.map(({ values, stroke }) => ({
      type: "scatter",
      mode: columns.length > MAX_MARKED ? "lines" : "lines+markers",
      x: [...xs],
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
        range: [first - room, last + room],
        tickmode: "array",
        tickvals: shown.map((index) => xs[index] ?? index),
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
