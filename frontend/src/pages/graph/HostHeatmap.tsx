import { useMemo } from "react";
import { HOST_HEATMAP_MARGINS, hostHeatmapHeight } from "../../logic/surface";
import { Plot } from "../../plot/Plot";
import { figureOfRows, pickOf } from "./figures";
import type { HostGraphContext } from "./HostGraph";
import { GraphSurface } from "./LineGraph";
import { words } from "../../words";

/** A row of colours for each line: hosts by time. A cell shows the worst sample in its span of time. */
export function HostHeatmap({ graph }: { readonly graph: HostGraphContext }) {
  const { block, window, zone, scheme, width } = graph;
  const height = hostHeatmapHeight(block.lines.length);
  const figure = useMemo(
    () => figureOfRows({ block, window, zone, scheme }, { width, height, margins: HOST_HEATMAP_MARGINS }),
    [block, window, zone, scheme, width, height],
  );
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
      <p className="graph-caption soft">{words.graph.hostHeatmap.eachCell[pickOf(block)]}</p>
    </>
  );
}
