import type { ReactNode } from "react";
import { TimeSurface } from "../../components/TimeSurface";
import type { Margins } from "../../logic/surface";
import type { EpochMs } from "../../logic/time";
import { EVENTS_ID, type GraphContext } from "./graph";

interface PanelSurfaceProps {
  readonly graph: GraphContext;
  /** The id of the panel. */
  readonly panel: string;
  readonly width: number;
  readonly height: number;
  readonly margins: Margins;
  readonly label: string;
  /** Returns the sample next to an instant; null for the first or the last one. */
  readonly onStep: (from: EpochMs | null, direction: -1 | 1) => EpochMs | null;
  readonly children: ReactNode;
}

/** The layer above the graph of a panel: crosshair, zoom and selection of the host's page. */
export function PanelSurface({ graph, panel, onStep, ...surface }: PanelSurfaceProps) {
  const { window, tool, pointer, bands, events, zone, onZoom, onMark, onZoomOut } = graph;
  return (
    <TimeSurface
      {...surface}
      window={window}
      tool={tool}
      pointer={pointer}
      bands={bands}
      events={events}
      zone={zone}
      eventsId={events.length === 0 ? undefined : EVENTS_ID}
      panel={panel}
      onZoom={onZoom}
      onMark={(marked) => {
        onMark(marked, panel);
      }}
      onZoomOut={onZoomOut}
      onStep={(direction) => {
        pointer.set({ hovered: onStep(pointer.get().hovered, direction) });
      }}
    />
  );
}
