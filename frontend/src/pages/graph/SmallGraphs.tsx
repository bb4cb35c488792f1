import { memo, useMemo, useRef } from "react";
import { useNear } from "../../components/useNear";
import { type HostLine, sharedValues } from "../../logic/host_lines";
import { SMALL_GRAPH_MARGINS, smallGraphWidth } from "../../logic/surface";
import { Plot } from "../../plot/Plot";
import { figureOfLines } from "./figures";
import type { HostGraphContext } from "./HostGraph";
import { GraphSurface } from "./LineGraph";

const HEIGHT = 130;

/** A small graph for each line, all with one scale, the worst first. */
export function SmallGraphs({ graph }: { readonly graph: HostGraphContext }) {
  const width = smallGraphWidth(graph.width);
  const shared = useMemo(() => sharedValues(graph.block), [graph.block]);
  return (
    <div className="graph-small">
      {graph.block.lines.map((line) => (
        <SmallGraph key={line.key} line={line} graph={graph} shared={shared} width={width} />
      ))}
    </div>
  );
}

interface SmallGraphProps {
  readonly line: HostLine;
  readonly graph: HostGraphContext;
  readonly shared: readonly (number | null)[];
  readonly width: number;
}

/** Draws only near the viewport: there may be a hundred. */
const SmallGraph = memo(function SmallGraph({ line, graph, shared, width }: SmallGraphProps) {
  const frame = useRef<HTMLElement>(null);
  const isNear = useNear(frame);
  const { block, window, zone, scheme, slots } = graph;
  const figure = useMemo(
    () =>
      figureOfLines({ block, slots, window, zone, scheme }, [line], shared, {
        width,
        height: HEIGHT,
        margins: SMALL_GRAPH_MARGINS,
      }),
    [block, line, slots, shared, window, zone, scheme, width],
  );
  return (
    <figure ref={frame} className="graph-small-one" style={{ minHeight: HEIGHT + 20 }}>
      <figcaption>
        {line.name} <span className="soft">{figure.axisUnit}</span>
      </figcaption>
      {isNear && (
        <GraphSurface graph={graph} width={width} height={HEIGHT} margins={SMALL_GRAPH_MARGINS} label={line.name}>
          <Plot figure={figure} label={`${block.metric?.title ?? ""} of ${line.name}`} />
        </GraphSurface>
      )}
    </figure>
  );
});
