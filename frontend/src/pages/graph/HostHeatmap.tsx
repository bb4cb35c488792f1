import { useMemo } from "react";
import { heatmapColumns, heatmapRows, sampleColumns } from "../../logic/host_lines";
import { heatmapColumnCount, HOST_HEATMAP_MARGINS, hostHeatmapHeight } from "../../logic/surface";
import { buildHeatmapFigure } from "../../plot/heatmap";
import { Plot } from "../../plot/Plot";
import type { HostGraphContext } from "./HostGraph";
import { GraphSurface } from "./LineGraph";
import { words } from "../../words";

/** A row of colours for each line: hosts by time. A cell shows the worst sample in its span of time. */
export function HostHeatmap({ graph }: { readonly graph: HostGraphContext }) {
  const { block, window, zone, scheme, width } = graph;
  const height = hostHeatmapHeight(block.lines.length);
  const figure = useMemo(
    () =>
      buildHeatmapFigure({
        distribution: heatmapRows(block),
        columns: heatmapColumns(block, window) ?? sampleColumns(block, window, heatmapColumnCount(width, HOST_HEATMAP_MARGINS)),
        pick: block.metric?.worse === "lower" ? "lowest" : "highest",
        scale: { kind: "values", unit: block.metric?.unit ?? "" },
        window,
        zone,
        scheme,
        margins: HOST_HEATMAP_MARGINS,
        width,
        height,
      }),
    [block, window, zone, scheme, width, height],
  );
  const which = block.metric?.worse === "lower" ? "lowest" : "highest";
  return (
    <>
      <GraphSurface
        graph={graph}
        width={width}
        height={height}
        margins={HOST_HEATMAP_MARGINS}
        label={words.graph.hostHeatmap.heatmapUseArrowKeys}
      >
        <Plot
          figure={figure}
          label={words.graph.hostHeatmap.heatmapOfRows(block.metric?.title ?? "", String(block.lines.length))}
        />
      </GraphSurface>
      <p className="graph-caption soft">{words.graph.hostHeatmap.eachCellSampleSpan(which)}</p>
    </>
  );
}
