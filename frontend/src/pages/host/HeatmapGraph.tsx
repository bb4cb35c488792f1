import { NativeSelect } from "@mantine/core";
import { useMemo, useState } from "react";
import { TimeSurface } from "../../components/TimeSurface";
import type { SeriesBlock } from "../../logic/block";
import { columnsOf, distributionsOf, instanceRows } from "../../logic/histogram";
import { fieldsAsked, type InstanceChoice, type PanelPlan } from "../../logic/panel";
import { describeResolution, nextSampleTime, windowOf } from "../../logic/series";
import { HEATMAP_MARGINS, heatmapHeight } from "../../logic/surface";
import { buildHeatmapFigure } from "../../plot/heatmap";
import { Plot } from "../../plot/Plot";
import { EVENTS_ID, type GraphContext } from "./graph";
import { HeatmapTip } from "./HeatmapTip";
import { MovedTicks } from "./MovedTicks";

interface HeatmapGraphProps {
  readonly plan: PanelPlan;
  readonly graph: GraphContext;
  readonly block: SeriesBlock;
  readonly width: number;
  readonly onChoose: (choice: InstanceChoice) => void;
}

/** A heatmap of the buckets of one distribution (selectable if there are several), or of all instances of one field. */
export function HeatmapGraph({ plan, graph, block, width, onChoose }: HeatmapGraphProps) {
  const [chosen, setChosen] = useState<string | null>(null);
  const isOfInstances = plan.choice.kind === "heatmap";
  const distributions = useMemo(() => (isOfInstances ? instanceRows(block) : distributionsOf(block)), [block, isOfInstances]);
  const distribution = distributions.find(({ key }) => key === chosen) ?? distributions[0];
  const { window: shown, zone, scheme, pointer } = graph;
  const drawn = useMemo(() => windowOf(block), [block]);
  const nRows = distribution?.buckets.length ?? 0;
  const height = heatmapHeight(nRows);
  const [field] = fieldsAsked(plan);
  const worse = isOfInstances ? field?.worse : undefined;
  const pick = worse === "lower" ? "lowest" : "highest";
  const figure = useMemo(
    () =>
      distribution === undefined
        ? null
        : buildHeatmapFigure({
            distribution,
            columns: columnsOf(block),
            pick,
            scale: isOfInstances ? { kind: "values", unit: plan.unit } : { kind: "decades" },
            window: drawn,
            zone,
            scheme,
            margins: HEATMAP_MARGINS,
            width,
            height,
          }),
    [distribution, block, pick, isOfInstances, plan.unit, drawn, zone, scheme, width, height],
  );
  if (figure === null || distribution === undefined) {
    return null;
  }
  const name = isOfInstances ? (field?.column ?? "") : distribution.key === "" ? plan.title : distribution.key;
  const rows = isOfInstances ? "rows" : "buckets";
  return (
    <>
      <TimeSurface
        width={width}
        height={height}
        margins={HEATMAP_MARGINS}
        window={shown}
        tool={graph.tool}
        pointer={pointer}
        bands={graph.bands}
        events={graph.events}
        zone={zone}
        eventsId={graph.events.length === 0 ? undefined : EVENTS_ID}
        panel={plan.id}
        label={`${plan.title}, ${name}: use the arrow keys to step through the samples`}
        onZoom={graph.onZoom}
        onMark={(window) => {
          graph.onMark(window, plan.id);
        }}
        onZoomOut={graph.onZoomOut}
        onStep={(direction) => {
          pointer.set({ hovered: nextSampleTime(block, pointer.get().hovered, direction) });
        }}
      >
        <Plot figure={figure} view={shown} label={`Heatmap of ${name}: ${String(nRows)} ${rows}, ${describeResolution(block)}`} />
        <MovedTicks drawn={drawn} shown={shown} zone={zone} width={width} margins={HEATMAP_MARGINS} />
        <HeatmapTip
          panel={plan.id}
          cells={figure.cells}
          pick={pick}
          decimals={isOfInstances ? (field?.decimals ?? 0) : 0}
          unit={isOfInstances ? plan.unit : ""}
          width={width}
          height={height}
          shown={shown}
          zone={zone}
          pointer={pointer}
        />
      </TimeSurface>
      {isOfInstances && plan.fields.length > 1 && (
        <NativeSelect
          size="xs"
          w={180}
          pl={8}
          label="Field"
          value={field?.key ?? ""}
          data={plan.fields.map(({ key, column }) => ({ value: key, label: column }))}
          onChange={(event) => {
            onChoose({ kind: "heatmap", field: event.currentTarget.value });
          }}
        />
      )}
      {distributions.length > 1 && (
        <NativeSelect
          size="xs"
          label="Distribution"
          value={distribution.key}
          data={distributions.map(({ key }) => ({ value: key, label: key === "" ? "(no key)" : key }))}
          onChange={(event) => {
            setChosen(event.currentTarget.value);
          }}
        />
      )}
    </>
  );
}
