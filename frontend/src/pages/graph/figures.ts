/** The figures of the graph of several hosts: as they are on the page, and as files. */

import { heatmapColumns, heatmapRows, type HostLine, type HostLines, sampleColumns } from "../../logic/host_lines";
import type { Scheme } from "../../logic/palette";
import { heatmapColumnCount, type Margins } from "../../logic/surface";
import type { Window } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import type { Figure } from "../../plot/figure";
import { buildHeatmapFigure } from "../../plot/heatmap";
import { buildHostFigure } from "../../plot/hosts";

/** What is drawn, and in which colours. */
export interface FigureSource {
  readonly block: HostLines;
  readonly window: Window;
  readonly zone: Zone;
  readonly scheme: Scheme;
  /** The palette index of each line, by key. */
  readonly slots: ReadonlyMap<string, number>;
}

export interface FigureSize {
  readonly width: number;
  readonly height: number;
  readonly margins: Margins;
}

/** Return the figure of some of the lines. `shared`: values that the axis must include. */
export function figureOfLines(
  { block, window, zone, scheme, slots }: FigureSource,
  lines: readonly HostLine[],
  shared: readonly (number | null)[],
  size: FigureSize,
): Figure {
  return buildHostFigure({
    lines,
    slots,
    shared,
    window,
    unit: block.metric?.unit ?? "",
    isPercent: block.metric?.is_percent ?? false,
    isLevel: block.metric?.is_level ?? false,
    zone,
    scheme,
    ...size,
  });
}

/** Return which sample of its span of time a cell shows: the worst one. */
export function pickOf(block: HostLines): "lowest" | "highest" {
  return block.metric?.worse === "lower" ? "lowest" : "highest";
}

/** Return the figure with a row of colours for each line. */
export function figureOfRows({ block, window, zone, scheme }: Omit<FigureSource, "slots">, size: FigureSize): Figure {
  return buildHeatmapFigure({
    distribution: heatmapRows(block),
    columns: heatmapColumns(block, window) ?? sampleColumns(block, window, heatmapColumnCount(size.width, size.margins)),
    pick: pickOf(block),
    scale: { kind: "values", unit: block.metric?.unit ?? "" },
    window,
    zone,
    scheme,
    ...size,
  });
}
