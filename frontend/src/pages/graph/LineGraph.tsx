import { useMemo } from "react";
import { TimeSurface } from "../../components/TimeSurface";
import { describeHostLines } from "../../logic/host_lines";
import { nextSampleTime } from "../../logic/series";
import { PANEL_MARGINS } from "../../logic/surface";
import { Plot } from "../../plot/Plot";
import { figureOfLines } from "./figures";
import type { HostGraphContext } from "./HostGraph";

const HEIGHT = 380;

/** All lines in one graph. */
export function LineGraph({ graph }: { readonly graph: HostGraphContext }) {
  const { block, window, zone, scheme, slots, width } = graph;
  const figure = useMemo(
    () =>
      figureOfLines({ block, slots, window, zone, scheme }, block.lines, [], { width, height: HEIGHT, margins: PANEL_MARGINS }),
    [block, slots, window, zone, scheme, width],
  );
  const title = block.metric?.title ?? "";
  return (
    <GraphSurface graph={graph} width={width} height={HEIGHT} label={`${title}: use the arrow keys to step through the samples`}>
      <span className="graph-unit">{figure.axisUnit === "" ? "number" : figure.axisUnit}</span>
      <Plot figure={figure} label={`${title}, ${describeHostLines(block)}`} />
    </GraphSurface>
  );
}

interface GraphSurfaceProps {
  readonly graph: HostGraphContext;
  readonly width: number;
  readonly height: number;
  readonly label: string;
  readonly margins?: typeof PANEL_MARGINS;
  readonly children: React.ReactNode;
}

/** The crosshair and zoom of all graphs of this page. */
export function GraphSurface({ graph, width, height, label, margins = PANEL_MARGINS, children }: GraphSurfaceProps) {
  const { block, pointer } = graph;
  return (
    <TimeSurface
      width={width}
      height={height}
      margins={margins}
      window={graph.window}
      tool="zoom"
      pointer={pointer}
      bands={[]}
      events={[]}
      zone={graph.zone}
      eventsId={undefined}
      label={label}
      onZoom={graph.onZoom}
      onMark={graph.onZoom}
      onZoomOut={graph.onZoomOut}
      onStep={(direction) => {
        pointer.set({ hovered: nextSampleTime({ series: block.lines }, pointer.get().hovered, direction) });
      }}
    >
      {children}
    </TimeSurface>
  );
}
