/** The figure of one metric of many hosts: lines of one unit. Pure. Gaps stay gaps; nothing is smoothed. */

import type { ScatterData } from "plotly.js";
import type { HostLine } from "../logic/host_lines";
import { type Scheme, type Stroke, strokeOf } from "../logic/palette";
import { extremesOf, piecesOf } from "../logic/series";
import type { Margins } from "../logic/surface";
import type { Window } from "../logic/time";
import { labelledAxis, scaleFor } from "../logic/unit";
import type { Zone } from "../logic/zone";
import { baseLayout, type Figure, timeAxis, yAxis } from "./figure";

export interface HostFigureInput {
  readonly lines: readonly HostLine[];
  /** The palette index of each line, by key. */
  readonly slots: ReadonlyMap<string, number>;
  /** Values that the axis must include: those of all graphs, where several have one scale. */
  readonly shared: readonly (number | null)[];
  readonly window: Window;
  readonly unit: string;
  readonly isPercent: boolean;
  /** Rates and percentages start at zero; a level such as free memory may show its movement instead. */
  readonly isLevel: boolean;
  readonly zone: Zone;
  readonly scheme: Scheme;
  readonly margins: Margins;
  readonly width: number;
  readonly height: number;
}

const PIXELS_PER_VALUE_TICK = 38;
// Few samples are drawn as dots too, to show where they are.
const MAX_DOTS = 40;

/** Return the figure of some lines. */
export function buildHostFigure(input: HostFigureInput): Figure {
  const { scheme, margins, width, height, unit } = input;
  const [low, high] = extentOf([...input.shared, ...input.lines.flatMap(({ values }) => values)], input.isLevel);
  const most = Math.max(2, Math.floor((height - margins.top - margins.bottom) / PIXELS_PER_VALUE_TICK));
  // Percentages close to 100 show the full range.
  const isWhole = input.isPercent && low >= 0 && high > 50 && high <= 120;
  const axis = labelledAxis(low, isWhole ? Math.max(100, high) : high, unit, most);
  const figure = {
    data: input.lines.flatMap((line) => drawHostLine(line, strokeOf(input.slots.get(line.key) ?? 0, scheme))),
    layout: {
      ...baseLayout(scheme, margins, width, height),
      xaxis: timeAxis(input.window, input.zone, scheme, width, margins),
      yaxis: yAxis(axis, scheme),
    },
    axisUnit: axis.unit,
    newest: null,
    scale: scaleFor(unit, Math.max(Math.abs(low), Math.abs(high))),
    traces: input.slots,
  };
  return figure;
}

function extentOf(values: readonly (number | null)[], isLevel: boolean): readonly [number, number] {
  const { lowest, highest } = extremesOf(values);
  if (lowest === null || highest === null) {
    return [0, 1];
  }
  // Starting at zero, a level that varies by less than a third of itself would be a flat line.
  const isFlat = isLevel && lowest > 0 && highest - lowest < highest / 3 && highest > lowest;
  return isFlat ? [lowest, highest] : [Math.min(0, lowest), Math.max(0, highest)];
}

function drawHostLine({ times, values }: HostLine, { color, dash }: Stroke): readonly Partial<ScatterData>[] {
  const pieces = piecesOf(values);
  const isDotted = values.length <= MAX_DOTS;
  const common = { type: "scatter" as const, hoverinfo: "skip" as const, showlegend: false, marker: { color, size: 4 } };
  // A sample between two gaps has no line.
  const alone = isDotted ? [] : pieces.filter(([from, to]) => to - from === 1).map(([from]) => from);
  const line: Partial<ScatterData> = {
    ...common,
    // Plotly only reads the arrays; copying every point would cost more than it protects.
    x: times as number[],
    y: values as number[],
    mode: isDotted ? "lines+markers" : "lines",
    connectgaps: false,
    line: { color, dash, width: 1.3, simplify: true },
  };
  const dots: Partial<ScatterData> = {
    ...common,
    x: alone.map((index) => times[index] ?? null),
    y: alone.map((index) => values[index] ?? null),
    mode: "markers",
  };
  return alone.length > 0 ? [line, dots] : [line];
}
