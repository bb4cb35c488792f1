import { useMemo } from "react";
import { TimeSurface } from "../../components/TimeSurface";
import { describeHostLines } from "../../logic/host_lines";
import { nextSampleTime } from "../../logic/series";
import { PANEL_MARGINS } from "../../logic/surface";
import { buildHostFigure } from "../../plot/hosts";
import { Plot } from "../../plot/Plot";
import type { HostGraphContext } from "./HostGraph";
import { words } from "../../words";

const HEIGHT = 380;

/** All lines in one graph. */
export function LineGraph({ graph }: { readonly graph: HostGraphContext }) {
  const { block, window, zone, scheme, slots, width } = graph;
  const figure = useMemo(
    () =>
      buildHostFigure({
        lines: block.lines,
        slots,
        shared: [],
        window,
        unit: block.metric?.unit ?? "",
        isPercent: block.metric?.is_percent ?? false,
        isLevel: block.metric?.is_level ?? false,
        zone,
        scheme,
        margins: PANEL_MARGINS,
        width,
        height: HEIGHT,
      }),
    [block, slots, window, zone, scheme, width],
  );
  const title = block.metric?.title ?? "";
  return (
    <GraphSurface graph={graph} width={width} height={HEIGHT} label={words.graph.lineGraph.useArrowKeysStep(title)}>
      <span className="graph-unit">{figure.axisUnit === "" ? words.common.number : figure.axisUnit}</span>
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
