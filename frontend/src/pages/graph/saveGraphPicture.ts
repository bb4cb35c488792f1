/** Draws the graph of several hosts as a file. Loaded when somebody asks for one. */

import {
  describeHostLines,
  describeMissing,
  formatOf,
  heatmapColumns,
  heatmapRows,
  type HostLine,
  lineRows,
  sampleColumns,
  sharedValues,
} from "../../logic/host_lines";
import { type Scheme, strokeOf } from "../../logic/palette";
import { buildPicture, graphText, MEASURED_FONT, type Picture, pictureName } from "../../logic/picture";
import {
  gridOf,
  heatmapColumnCount,
  HOST_HEATMAP_MARGINS,
  hostHeatmapHeight,
  type Margins,
  PANEL_MARGINS,
  SMALL_GRAPH_MARGINS,
} from "../../logic/surface";
import { describeDuration, lengthOf } from "../../logic/time";
import { ELAPSED, formatWindow, zoneLabel } from "../../logic/zone";
import type { Figure } from "../../plot/figure";
import { buildHeatmapFigure } from "../../plot/heatmap";
import { buildHostFigure } from "../../plot/hosts";
import { drawSvg } from "../../plot/image";
import { saveFile, toPng } from "../../state/download";
import type { GraphView } from "../../state/graph";
import type { HostGraphContext } from "./HostGraph";
import { words } from "../../words";

const WIDTH = 960;
const LINES_HEIGHT = 340;

interface Drawing {
  readonly svg: string;
  readonly height: number;
  readonly margins: Margins;
  readonly unit: string;
}

/** Draw the graph as it is on the page, with its table of lines, and hand it to the browser as a file. */
export async function saveGraphPicture(
  graph: HostGraphContext,
  kind: GraphView["kind"],
  scheme: Scheme,
  format: "png" | "svg",
): Promise<void> {
  const picture = await drawPicture(graph, kind, scheme);
  const name = pictureName("hosts", graph.block.metric?.key ?? "graph", graph.window, format);
  saveFile(name, format === "svg" ? new Blob([picture.svg], { type: "image/svg+xml" }) : await toPng(picture));
}

async function drawPicture(graph: HostGraphContext, kind: GraphView["kind"], scheme: Scheme): Promise<Picture> {
  const { block, window, zone, slots } = graph;
  const drawing = await (kind === "heatmap"
    ? drawHeatmap(graph, scheme)
    : kind === "small"
      ? drawSmall(graph, scheme)
      : drawLines(graph, scheme));
  const length = describeDuration(lengthOf(window));
  const when =
    zone === ELAPSED
      ? words.graph.saveGraphPicture.elapsed(length)
      : `${formatWindow(zone, window)} ${zoneLabel(zone, window.end)}${zone === "UTC" ? "" : ` (${zone})`}, ${length}`;
  const measured = document.createElement("canvas").getContext("2d");
  const missing = describeMissing(block);
  return buildPicture({
    title: block.metric?.title ?? words.graph.hostGraph.graph,
    subtitles: [describeHostLines(block), when],
    unit: drawing.unit,
    graph: drawing.svg,
    width: WIDTH,
    height: drawing.height,
    margins: drawing.margins,
    window,
    periods: [],
    events: [],
    heads: [words.graph.lineTable.mean, words.graph.lineTable.lowest, words.graph.lineTable.highest, words.graph.lineTable.last],
    rows: lineRows(block, "mean").map(({ line, lowest, highest, last }) => ({
      name: line.name,
      stroke: strokeOf(slots.get(line.key) ?? 0, scheme),
      cells: [formatOf(block.metric, line.mean, 1), ...[lowest, highest, last].map((value) => formatOf(block.metric, value))],
    })),
    notes: [...(missing === "" ? [] : [missing]), ...block.left_out.map(({ reason }) => reason)],
    scheme,
    measure: (text, size) => {
      if (measured === null) {
        return text.length * size;
      }
      measured.font = `${String(size)}px ${MEASURED_FONT}`;
      return measured.measureText(text).width;
    },
  });
}

interface Size {
  readonly width: number;
  readonly height: number;
  readonly margins: Margins;
}

function figureOf(
  { block, window, zone, slots }: HostGraphContext,
  lines: readonly HostLine[],
  shared: readonly (number | null)[],
  scheme: Scheme,
  size: Size,
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

async function drawLines(graph: HostGraphContext, scheme: Scheme): Promise<Drawing> {
  const size = { width: WIDTH, height: LINES_HEIGHT, margins: PANEL_MARGINS };
  const figure = figureOf(graph, graph.block.lines, [], scheme, size);
  return { svg: await drawSvg(figure), ...size, unit: figure.axisUnit === "" ? words.common.number : figure.axisUnit };
}

async function drawHeatmap({ block, window, zone }: HostGraphContext, scheme: Scheme): Promise<Drawing> {
  const size = { width: WIDTH, height: hostHeatmapHeight(block.lines.length), margins: HOST_HEATMAP_MARGINS };
  const figure = buildHeatmapFigure({
    distribution: heatmapRows(block),
    columns: heatmapColumns(block, window) ?? sampleColumns(block, window, heatmapColumnCount(WIDTH, HOST_HEATMAP_MARGINS)),
    pick: block.metric?.worse === "lower" ? "lowest" : "highest",
    scale: { kind: "values", unit: block.metric?.unit ?? "" },
    window,
    zone,
    scheme,
    ...size,
  });
  return { svg: await drawSvg(figure), ...size, unit: "" };
}

async function drawSmall(graph: HostGraphContext, scheme: Scheme): Promise<Drawing> {
  const { lines } = graph.block;
  const shared = sharedValues(graph.block);
  const grid = gridOf(lines.length, WIDTH);
  const parts: string[] = [];
  for (const [index, line] of lines.entries()) {
    const figure = figureOf(graph, [line], shared, scheme, { ...grid.cell, margins: SMALL_GRAPH_MARGINS });
    const { x, y } = grid.placeOf(index);
    const caption = graphText(SMALL_GRAPH_MARGINS.left, grid.baseline, `${line.name} ${figure.axisUnit}`.trim(), scheme);
    parts.push(
      `<g transform="translate(${String(x)}, ${String(y)})">${caption}`,
      `<g transform="translate(0, ${String(grid.caption)})">${await drawSvg(figure)}</g></g>`,
    );
  }
  return { svg: parts.join(""), height: grid.height, margins: SMALL_GRAPH_MARGINS, unit: "" };
}
