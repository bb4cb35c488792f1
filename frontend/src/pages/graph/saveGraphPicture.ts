/** Draws the graph of several hosts as a file. Loaded on demand. */

import { describeHostLines, describeMissing, formatOf, lineRows, sharedValues } from "../../logic/host_lines";
import { strokeOf } from "../../logic/palette";
import { buildPicture, describeTimes, graphText, type Picture, pictureName } from "../../logic/picture";
import {
  gridOf,
  HOST_HEATMAP_MARGINS,
  hostHeatmapHeight,
  type Margins,
  PANEL_MARGINS,
  SMALL_GRAPH_MARGINS,
} from "../../logic/surface";
import { describeDuration, lengthOf } from "../../logic/time";
import { ELAPSED } from "../../logic/zone";
import { drawSvg, textMeasure } from "../../plot/image";
import { savePictureFile } from "../../state/download";
import type { GraphView } from "../../state/graph";
import { figureOfLines, figureOfRows } from "./figures";
import type { HostGraphContext } from "./HostGraph";

const WIDTH = 960;
const LINES_HEIGHT = 340;

interface Drawing {
  readonly svg: string;
  readonly height: number;
  readonly margins: Margins;
  readonly unit: string;
}

/** Draw the graph as it is on the page, with its table of lines, and hand it to the browser as a file. */
export async function saveGraphPicture(graph: HostGraphContext, kind: GraphView["kind"], format: "png" | "svg"): Promise<void> {
  const name = pictureName("hosts", graph.block.metric?.key ?? "graph", graph.window, format);
  await savePictureFile(name, await drawPicture(graph, kind), format);
}

async function drawPicture(graph: HostGraphContext, kind: GraphView["kind"]): Promise<Picture> {
  const { block, window, zone, slots, scheme } = graph;
  const drawing = await (kind === "heatmap" ? drawHeatmap(graph) : kind === "small" ? drawSmall(graph) : drawLines(graph));
  const missing = describeMissing(block);
  return buildPicture({
    title: block.metric?.title ?? "Graph",
    subtitles: [
      describeHostLines(block),
      zone === ELAPSED ? `elapsed time, ${describeDuration(lengthOf(window))}` : describeTimes(zone, window),
    ],
    unit: drawing.unit,
    graph: drawing.svg,
    width: WIDTH,
    height: drawing.height,
    margins: drawing.margins,
    window,
    periods: [],
    events: [],
    heads: ["Mean", "Lowest", "Highest", "Last"],
    rows: lineRows(block, "mean").map(({ line, lowest, highest, last }) => ({
      name: line.name,
      stroke: strokeOf(slots.get(line.key) ?? 0, scheme),
      cells: [formatOf(block.metric, line.mean, 1), ...[lowest, highest, last].map((value) => formatOf(block.metric, value))],
    })),
    notes: [...(missing === "" ? [] : [missing]), ...block.left_out.map(({ reason }) => reason)],
    scheme,
    measure: textMeasure(),
  });
}

async function drawLines(graph: HostGraphContext): Promise<Drawing> {
  const size = { width: WIDTH, height: LINES_HEIGHT, margins: PANEL_MARGINS };
  const figure = figureOfLines(graph, graph.block.lines, [], size);
  return { svg: await drawSvg(figure), ...size, unit: figure.axisUnit === "" ? "number" : figure.axisUnit };
}

async function drawHeatmap(graph: HostGraphContext): Promise<Drawing> {
  const size = { width: WIDTH, height: hostHeatmapHeight(graph.block.lines.length), margins: HOST_HEATMAP_MARGINS };
  return { svg: await drawSvg(figureOfRows(graph, size)), ...size, unit: "" };
}

async function drawSmall(graph: HostGraphContext): Promise<Drawing> {
  const { lines } = graph.block;
  const shared = sharedValues(graph.block);
  const grid = gridOf(lines.length, WIDTH);
  const parts: string[] = [];
  for (const [index, line] of lines.entries()) {
    const figure = figureOfLines(graph, [line], shared, { ...grid.cell, margins: SMALL_GRAPH_MARGINS });
    const { x, y } = grid.placeOf(index);
    const caption = graphText(SMALL_GRAPH_MARGINS.left, grid.baseline, `${line.name} ${figure.axisUnit}`.trim(), graph.scheme);
    parts.push(
      `<g transform="translate(${String(x)}, ${String(y)})">${caption}`,
      `<g transform="translate(0, ${String(grid.caption)})">${await drawSvg(figure)}</g></g>`,
    );
  }
  return { svg: parts.join(""), height: grid.height, margins: SMALL_GRAPH_MARGINS, unit: "" };
}
