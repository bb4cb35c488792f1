/** A heatmap of named columns and rows: distributions by report, throughput by file size and record length. Pure. */

import { inkOf, type Scheme } from "../logic/palette";
import type { Margins } from "../logic/surface";
import { labelledAxis, PLAIN_SCALE } from "../logic/unit";
import { labelStep } from "./bars";
import { baseLayout, type Figure } from "./figure";
import { scaleOf } from "./heatmap";

export interface CellInput {
  readonly columns: readonly string[];
  /** From the lowest row up. */
  readonly rows: readonly string[];
  /** One value for each column in each row; null: none. */
  readonly values: readonly (readonly (number | null)[])[];
  readonly unit: string;
  readonly scheme: Scheme;
  readonly width: number;
  readonly height: number;
  readonly margins: Margins;
}

const PIXELS_PER_ROW = 13;

/** Return the figure of cells: the higher a value, the stronger its colour. */
export function buildCellFigure({ columns, rows, values, unit, scheme, width, height, margins }: CellInput): Figure {
  const ink = inkOf(scheme);
  const highest = values.flat().reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
  const axis = labelledAxis(0, highest === 0 ? 1 : highest, unit, 4);
  const step = labelStep(columns, width - margins.left - margins.right);
  const shown = columns.flatMap((_, index) => (index % step === 0 ? [index] : []));
  const every = Math.max(1, Math.ceil((rows.length * PIXELS_PER_ROW) / Math.max(1, height - margins.top - margins.bottom)));
  const named = rows.flatMap((_, index) => (index % every === 0 ? [index] : []));
  return {
    data: [
      {
        type: "heatmap",
        x: columns.map((_, index) => index),
        y: rows.map((_, index) => index),
        z: values.map((row) => [...row]),
        zmin: 0,
        zmax: Math.max(axis.high, highest),
        xgap: 1,
        ygap: 1,
        colorscale: scaleOf(scheme),
        hoverinfo: "skip",
        colorbar: {
          thickness: 8,
          outlinewidth: 0,
          tickvals: [...axis.ticks],
          ticktext: axis.labels.map((label, index) =>
            index === axis.labels.length - 1 ? `${label} ${axis.unit}`.trim() : label,
          ),
          tickfont: { size: 10, color: ink.text },
          xpad: 4,
        },
      },
    ],
    layout: {
      ...baseLayout(scheme, margins, width, height),
      xaxis: {
        type: "linear",
        range: [-0.5, Math.max(1, columns.length) - 0.5],
        tickmode: "array",
        tickvals: shown,
        ticktext: shown.map((index) => columns[index] ?? ""),
        tickangle: 0,
        ticklabeloverflow: "allow",
        fixedrange: true,
        showgrid: false,
        zeroline: false,
      },
      yaxis: {
        type: "linear",
        range: [-0.5, Math.max(1, rows.length) - 0.5],
        tickmode: "array",
        tickvals: named,
        ticktext: named.map((index) => rows[index] ?? ""),
        tickfont: { size: 10 },
        ticklabeloverflow: "allow",
        fixedrange: true,
        showgrid: false,
        zeroline: false,
      },
    },
    axisUnit: axis.unit,
    scale: PLAIN_SCALE,
    newest: null,
    traces: new Map(),
  };
}
