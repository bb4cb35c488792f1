import { useCallback, useMemo, useState } from "react";
import { ProcessLink } from "../../components/ProcessLink";
import { TimeSurface } from "../../components/TimeSurface";
import type { SeriesBlock } from "../../logic/block";
import type { PanelPlan } from "../../logic/panel";
import {
  assignSlots,
  describeResolution,
  labelEntries,
  legendOf,
  meantSlots,
  nextSampleTime,
  seriesKey,
  toggled,
  windowOf,
} from "../../logic/series";
import { PANEL_MARGINS, pixelMs } from "../../logic/surface";
import { buildPanelFigure, type Figure, isStackDrawn } from "../../plot/figure";
import { Plot } from "../../plot/Plot";
import { markMoment } from "../../state/moment";
import { EVENTS_ID, type GraphContext } from "./graph";
import { Legend } from "./Legend";
import { MovedTicks } from "./MovedTicks";
import { useBands } from "./useBands";
import { useInstanceLabels } from "./useInstanceLabels";

const HEIGHT = 186;

export interface PanelGraphProps {
  readonly plan: PanelPlan;
  readonly graph: GraphContext;
  readonly block: SeriesBlock;
  readonly width: number;
}

function markDrawn(figure: Figure): void {
  markMoment("drawn", { newest: figure.newest });
}

/** The lines of a panel, the baseline's bands behind them, and the legend. */
export function PanelGraph({ plan, graph, block, width }: PanelGraphProps) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [known, setSlots] = useState<ReadonlyMap<string, number>>(new Map());
  const keys = useMemo(() => block.series.map(seriesKey), [block]);
  const slots = assignSlots(known, keys, meantSlots(block.series, plan.fields));
  if (slots !== known) {
    setSlots(slots);
  }
  const { window: shown, zone, scheme, pointer } = graph;
  // The figure shows the fetched window; until the next response it is moved to the visible one.
  const drawn = useMemo(() => windowOf(block), [block]);
  const labels = useInstanceLabels(plan, graph, drawn);
  const entries = useMemo(
    () => labelEntries(legendOf(block, plan.fields, pixelMs(width, PANEL_MARGINS, drawn)), labels),
    [block, plan.fields, width, drawn, labels],
  );
  const bands = useBands({
    baseline: isStackDrawn(block, plan.isStacked) ? null : graph.bandBaseline,
    host: graph.host,
    stat: plan.stat.name,
    entries,
    hidden,
    slots,
    scheme,
    drawn,
  });
  const figure = useMemo(
    () =>
      buildPanelFigure({
        block,
        window: drawn,
        unit: plan.unit,
        isPercent: plan.unit === "%",
        isLevel: plan.fields.every(({ kind }) => kind === "gauge" || kind === "counter"),
        isStacked: plan.isStacked,
        hidden,
        slots,
        zone,
        scheme,
        margins: PANEL_MARGINS,
        width,
        height: HEIGHT,
        bands: bands.drawn,
      }),
    [block, drawn, plan, hidden, slots, zone, scheme, width, bands.drawn],
  );
  const toggle = useCallback(
    (key: string, isAlone: boolean) => {
      setHidden((before) => toggled(before, key, keys, isAlone));
    },
    [keys],
  );
  const linkTo = useCallback(
    (instance: string) => <ProcessLink host={graph.host} stat={plan.stat} instance={instance} />,
    [graph.host, plan.stat],
  );
  return (
    <>
      <TimeSurface
        width={width}
        height={HEIGHT}
        margins={PANEL_MARGINS}
        window={shown}
        tool={graph.tool}
        pointer={pointer}
        bands={graph.bands}
        events={graph.events}
        zone={zone}
        eventsId={graph.events.length === 0 ? undefined : EVENTS_ID}
        label={`${plan.title}: use the arrow keys to step through the samples`}
        onZoom={graph.onZoom}
        onMark={graph.onMark}
        onZoomOut={graph.onZoomOut}
        onStep={(direction) => {
          pointer.set({ hovered: nextSampleTime(block, pointer.get().hovered, direction) });
        }}
      >
        <span className="panel-unit">{figure.axisUnit === "" ? "number" : figure.axisUnit}</span>
        <Plot figure={figure} view={shown} label={`${plan.title}, ${describeResolution(block)}`} onDrawn={markDrawn} />
        <MovedTicks drawn={drawn} shown={shown} zone={zone} width={width} margins={PANEL_MARGINS} />
      </TimeSurface>
      <Legend
        entries={entries}
        hidden={hidden}
        slots={slots}
        scheme={scheme}
        pointer={pointer}
        unit={figure.axisUnit === plan.unit ? "" : plan.unit}
        onToggle={toggle}
        linkTo={linkTo}
      />
      {bands.note !== "" && (
        <p className="band-note soft">
          <svg width="24" height="12" aria-hidden>
            <rect width="24" height="12" />
            <line x2="24" y1="6" y2="6" />
          </svg>
          {bands.note}
        </p>
      )}
    </>
  );
}
