/** Draws a panel as a file. Loaded on demand. */

import type { QueryClient } from "@tanstack/react-query";
import { statisticsQuery } from "../../api/series";
import type { LineValues } from "../../logic/api";
import { describeMark } from "../../logic/event";
import { type Scheme, strokeOf } from "../../logic/palette";
import { fieldsAsked, type PanelPlan } from "../../logic/panel";
import { buildPicture, describeTimes, type Picture, pictureName } from "../../logic/picture";
import { describeResolution } from "../../logic/series";
import { byLine, formatStatistic, STATISTIC_LABELS, STATISTICS, statisticsOfBlock } from "../../logic/statistics";
import { overlaps, type Window } from "../../logic/time";
import { buildPanelFigure, type Figure } from "../../plot/figure";
import { buildHeatmapFigure } from "../../plot/heatmap";
import { drawSvg, textMeasure } from "../../plot/image";
import { savePictureFile } from "../../state/download";
import type { GraphContext } from "./graph";
import type { LinesSource, PictureSource } from "./picture_source";
import { drawnChoice } from "./useLegendStatistics";

export interface PictureOrder {
  readonly client: QueryClient;
  readonly plan: PanelPlan;
  readonly graph: GraphContext;
  readonly source: PictureSource;
  readonly scheme: Scheme;
  readonly format: "png" | "svg";
}

const WIDTH = 960;
const LINES_HEIGHT = 300;

/** Draw the panel as it is on the page and hand it to the browser as a file. */
export async function savePicture(order: PictureOrder): Promise<void> {
  const { plan, graph, source, format } = order;
  const picture = await drawPicture(order);
  await savePictureFile(pictureName(graph.host, plan.id, source.input.window, format), picture, format);
}

async function drawPicture({ client, plan, graph, source, scheme }: PictureOrder): Promise<Picture> {
  const figure = figureOf(source, scheme);
  const { window, zone, margins } = source.input;
  const { rows, notes } =
    source.kind === "lines" ? await legendOf(client, plan, graph, source, figure, scheme) : { rows: [], notes: [] };
  const periods = graph.bands.filter((band) => overlaps(band.window, window));
  return buildPicture({
    title: plan.title,
    subtitles: [`${graph.host} · ${plan.stat.title} (${plan.stat.name})`, describeTimes(zone, window)],
    unit: source.kind === "heatmap" ? "" : figure.axisUnit === "" ? "number" : figure.axisUnit,
    graph: await drawSvg(figure),
    width: WIDTH,
    height: figure.layout.height ?? LINES_HEIGHT,
    margins,
    window,
    periods,
    events: graph.events.map((mark) => ({ at: mark.at, text: describeMark(zone, mark) })),
    heads: STATISTICS.map((statistic) => STATISTIC_LABELS[statistic]),
    rows,
    notes: [...notes, ...(periods.length === 0 ? [] : [`Shaded: ${[...new Set(periods.map(({ label }) => label))].join(", ")}`])],
    scheme,
    measure: textMeasure(),
  });
}

/** Return the figure of the panel in the size and the colours of the picture. */
function figureOf(source: PictureSource, scheme: Scheme): Figure {
  if (source.kind === "heatmap") {
    return buildHeatmapFigure({ ...source.input, scheme, width: WIDTH });
  }
  const bands = source.input.bands.map((band) => ({ ...band, color: strokeOf(source.slots.get(band.key) ?? 0, scheme).color }));
  return buildPanelFigure({ ...source.input, bands, scheme, width: WIDTH, height: LINES_HEIGHT });
}

async function legendOf(
  client: QueryClient,
  plan: PanelPlan,
  graph: GraphContext,
  { input, entries, slots, notes }: LinesSource,
  figure: Figure,
  scheme: Scheme,
) {
  const { lines, note } = await statisticsOf(client, plan, graph, input.block, input.window);
  const rows = entries
    .filter(({ key }) => !input.hidden.has(key))
    .map(({ key, name, field, newest }) => ({
      name,
      stroke: strokeOf(slots.get(key) ?? 0, scheme),
      cells: STATISTICS.map((statistic) =>
        formatStatistic(
          statistic === "last" ? newest : (lines.get(key)?.[statistic] ?? null),
          statistic,
          field.decimals,
          figure.scale,
        ),
      ),
    }));
  return { rows, notes: [`${describeResolution(input.block)}. ${note}`, ...notes] };
}

/** Return the statistics of all samples in the window, never of the points drawn. */
async function statisticsOf(
  client: QueryClient,
  plan: PanelPlan,
  graph: GraphContext,
  block: LinesSource["input"]["block"],
  window: Window,
): Promise<{ readonly lines: ReadonlyMap<string, LineValues>; readonly note: string }> {
  const own = statisticsOfBlock(block);
  if (own !== null) {
    return { lines: own, note: "Statistics of all samples in the window" };
  }
  const found = await client.query(
    statisticsQuery({
      host: graph.host,
      stat: plan.stat.name,
      fields: fieldsAsked(plan).map(({ key }) => key),
      choice: drawnChoice(plan, block),
      window,
      against: null,
    }),
  );
  const of = found.source === "samples" ? "Statistics of all samples" : "Statistics from the rollups of all samples";
  return {
    lines: new Map([...byLine(found.lines)].map(([key, { window: values }]) => [key, values])),
    note: `${of} in the window${found.note === "" ? "" : `. ${found.note}`}`,
  };
}
