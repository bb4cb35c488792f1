import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { referencesQuery } from "../../api/queries";
import { ProcessLink } from "../../components/ProcessLink";
import type { SeriesBlock } from "../../logic/block";
import { DEFAULT_LOOK, type LegendKind, legendKind, type LegendSort, USUAL_HEIGHT } from "../../logic/look";
import type { PanelPlan } from "../../logic/panel";
import { referencesOf } from "../../logic/reference";
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
import { buildPanelFigure, type Figure, isStackDrawn, type PanelInput } from "../../plot/figure";
import { Plot } from "../../plot/Plot";
import { markMoment } from "../../state/moment";
import type { GraphContext } from "./graph";
import { PanelSurface } from "./PanelSurface";
import { Legend } from "./Legend";
import { MovedTicks } from "./MovedTicks";
import { NearestTip } from "./NearestTip";
import type { PictureSource } from "./picture_source";
import { useBands } from "./useBands";
import { useInstanceLabels } from "./useInstanceLabels";
import { useLegendStatistics } from "./useLegendStatistics";
import { usePanelHeight } from "./PanelGrip";
import { useOverlay } from "./useOverlay";

export interface PanelGraphProps {
  readonly plan: PanelPlan;
  readonly graph: GraphContext;
  readonly block: SeriesBlock;
  readonly width: number;
  /** Receives what a picture of the panel is drawn from. */
  readonly onSource: (source: PictureSource) => void;
}

function markDrawn(figure: Figure): void {
  markMoment("drawn", { newest: figure.newest });
}

/** The lines of a panel, the baseline's bands behind them, and the legend. */
export function PanelGraph({ plan, graph, block, width, onSource }: PanelGraphProps) {
  const look = graph.looks.get(plan.id) ?? DEFAULT_LOOK;
  const { onLook } = graph;
  const hidden = useMemo(() => new Set(look.hidden), [look]);
  const isStacked = look.isStacked ?? plan.isStacked;
  const rules = useQuery(referencesQuery(graph.host)).data?.references;
  const references = useMemo(
    () => (look.hasReferences && rules !== undefined ? referencesOf(rules, plan.stat.name, plan.fields) : []),
    [look.hasReferences, rules, plan],
  );
  const height = usePanelHeight(plan, graph, USUAL_HEIGHT);
  const [highlight, setHighlight] = useState<string | null>(null);
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
  const isUnasked = graph.bandBaseline?.maxLines !== undefined;
  const bands = useBands({
    // A band that was not asked for does not turn areas into lines.
    baseline: isUnasked && isStacked ? null : graph.bandBaseline,
    host: graph.host,
    stat: plan.stat.name,
    entries,
    hidden,
    slots,
    scheme,
    drawn,
  });
  const overlay = useOverlay({ plan, graph, block, width, hidden, slots, scheme });
  // The band or the overlay of a line is not that of a sum: beside them, areas become lines.
  const isCompared = bands.drawn.length > 0 || overlay.entries.length > 0;
  const input = useMemo(
    (): PanelInput => ({
      block,
      window: drawn,
      unit: plan.unit,
      isPercent: plan.unit === "%",
      isLevel: plan.fields.every(({ kind }) => kind === "gauge" || kind === "counter"),
      isStacked: isStacked && !isCompared,
      isLog: look.isLog,
      isStep: look.isStep,
      low: look.low,
      high: look.high,
      bytes: look.bytes,
      references,
      hidden,
      slots,
      zone,
      scheme,
      margins: PANEL_MARGINS,
      width,
      height,
      bands: [...bands.drawn, ...overlay.drawn],
    }),
    [
      block,
      drawn,
      plan,
      look,
      isStacked,
      isCompared,
      references,
      hidden,
      slots,
      zone,
      scheme,
      width,
      height,
      bands.drawn,
      overlay.drawn,
    ],
  );
  const figure = useMemo(() => buildPanelFigure(input), [input]);
  const shownEntries = useMemo(() => [...entries, ...overlay.entries], [entries, overlay.entries]);
  const shownSlots = useMemo(() => new Map([...slots, ...overlay.slots]), [slots, overlay.slots]);
  const overlayNote = overlay.note;
  const bandNote = bands.note;
  useEffect(() => {
    const notes = [overlayNote, bandNote].filter((note) => note !== "");
    onSource({ kind: "lines", input, entries: shownEntries, slots: shownSlots, notes });
  }, [onSource, input, shownEntries, shownSlots, overlayNote, bandNote]);
  const toggle = useCallback(
    (key: string, isAlone: boolean) => {
      onLook(plan.id, { hidden: [...toggled(hidden, key, keys, isAlone)] });
    },
    [onLook, plan.id, hidden, keys],
  );
  const onKind = useCallback(
    (legend: LegendKind) => {
      onLook(plan.id, { legend: legend === "compact" ? null : legend });
    },
    [onLook, plan.id],
  );
  const onSort = useCallback(
    (sort: LegendSort | null) => {
      onLook(plan.id, { sort });
    },
    [onLook, plan.id],
  );
  const kind = legendKind(look);
  const statistics = useLegendStatistics(plan, graph, block, drawn, kind === "table");
  const linkTo = useCallback(
    (instance: string) => <ProcessLink host={graph.host} stat={plan.stat} instance={instance} />,
    [graph.host, plan.stat],
  );
  const linesNote = isCompared && isStackDrawn(block, isStacked) ? "Lines instead of areas, so that each can be compared." : "";
  const chosenNotes = [overlay.note, linesNote].filter((note) => note !== "");
  return (
    <>
      <PanelSurface
        graph={graph}
        panel={plan.id}
        width={width}
        height={height}
        margins={PANEL_MARGINS}
        label={`${plan.title}: use the arrow keys to step through the samples`}
        onStep={(from, direction) => nextSampleTime(block, from, direction)}
      >
        <span className="panel-unit">{figure.axisUnit === "" ? "number" : figure.axisUnit}</span>
        <Plot
          figure={figure}
          view={shown}
          highlight={highlight}
          label={`${plan.title}, ${describeResolution(block)}`}
          onDrawn={markDrawn}
        />
        <MovedTicks shown={shown} zone={zone} width={width} margins={PANEL_MARGINS} />
        <NearestTip
          panel={plan.id}
          entries={entries}
          hidden={hidden}
          slots={slots}
          scheme={scheme}
          figure={figure}
          isStacked={!isCompared && isStackDrawn(block, isStacked)}
          bands={bands.drawn}
          width={width}
          height={height}
          shown={shown}
          pointer={pointer}
        />
      </PanelSurface>
      <Legend
        kind={kind}
        entries={shownEntries}
        hidden={hidden}
        slots={shownSlots}
        scheme={scheme}
        pointer={pointer}
        scale={figure.scale}
        statistics={statistics}
        sort={look.sort}
        onToggle={toggle}
        onHighlight={setHighlight}
        onKind={onKind}
        onSort={onSort}
        linkTo={linkTo}
      />
      {/* In the graph's upper margin: the panel has the same height with a band and without. */}
      <p className="panel-notes soft">
        {/* The overlay that was chosen comes first: the line is cut at its end. */}
        {chosenNotes.join(" · ")}
        {bands.note !== "" && (
          <>
            {chosenNotes.length > 0 && " · "}
            <svg width="24" height="12" aria-hidden>
              <rect width="24" height="12" />
              <line x2="24" y1="6" y2="6" />
            </svg>{" "}
            {bands.note}
          </>
        )}
      </p>
    </>
  );
}
