import { useMemo } from "react";
import { HOST_HEATMAP_MARGINS, hostHeatmapHeight } from "../../logic/surface";
import { Plot } from "../../plot/Plot";
import { figureOfRows, pickOf } from "./figures";
import type { HostGraphContext } from "./HostGraph";
import { GraphSurface } from "./LineGraph";

const EACH_CELL = {
  lowest: "Each cell is the lowest sample in its span of time; an empty cell has none.",
  highest: "Each cell is the highest sample in its span of time; an empty cell has none.",
};

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
        label="Heatmap: use the arrow keys to step through the samples"
      >
        <Plot figure={figure} label={`Heatmap of ${block.metric?.title ?? ""}: ${String(block.lines.length)} rows`} />
      </GraphSurface>
      <p className="graph-caption soft">{EACH_CELL[pickOf(block)]}</p>
    </>
  );
}
