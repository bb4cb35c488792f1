/** The figure of one metric of many hosts: lines of one unit. Pure. */

import type { HostLine } from "../logic/host_lines";
import { type Scheme, strokeOf } from "../logic/palette";
import type { Margins } from "../logic/surface";
import type { Window } from "../logic/time";
import type { Zone } from "../logic/zone";
import { baseLayout, drawLine, type Figure, timeAxis, valueAxisOf, yAxis } from "./figure";

export interface HostFigureInput {
  readonly lines: readonly HostLine[];
  /** The palette index of each line, by key. */
  readonly slots: ReadonlyMap<string, number>;
  /** Values that the axis must include: those of all graphs, where several have one scale. */
  readonly shared: readonly (number | null)[];
  readonly window: Window;
  readonly unit: string;
  readonly isPercent: boolean;
  readonly isLevel: boolean;
  readonly zone: Zone;
  readonly scheme: Scheme;
  readonly margins: Margins;
  readonly width: number;
  readonly height: number;
}

/** Return the figure of some lines. */
export function buildHostFigure(input: HostFigureInput): Figure {
  const { scheme, margins, width, height } = input;
  const lines = input.lines.map(({ key, times, values }) => ({
    times,
    values,
    stroke: strokeOf(input.slots.get(key) ?? 0, scheme),
  }));
  const shared = { times: input.shared.map(() => 0), values: input.shared, stroke: strokeOf(0, scheme) };
  const innerHeight = height - margins.top - margins.bottom;
  const axis = valueAxisOf([...lines, shared], input.unit, input.isPercent, input.isLevel, innerHeight);
  return {
    data: lines.flatMap((line) => drawLine(line, 0)),
    layout: {
      ...baseLayout(scheme, margins, width, height),
      xaxis: timeAxis(input.window, input.zone, scheme, width - margins.left - margins.right),
      yaxis: yAxis(axis, scheme),
    },
    axisUnit: axis.unit,
    newest: null,
  };
}
