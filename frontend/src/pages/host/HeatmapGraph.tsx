import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { referencesQuery } from "../../api/queries";
import type { SeriesBlock } from "../../logic/block";
import { columnsOf, distributionsOf, instanceRows } from "../../logic/histogram";
import { fieldsAsked, type InstanceChoice, type PanelPlan } from "../../logic/panel";
import type { FieldInfo, ReferenceRule } from "../../logic/api";
import { LEGEND_LINE, USUAL_HEIGHT } from "../../logic/look";
import { referencesOf } from "../../logic/reference";
import { describeResolution, nextSampleTime, windowOf } from "../../logic/series";
import { HEATMAP_MARGINS } from "../../logic/surface";
import { buildHeatmapFigure, type HeatmapInput, type HeatmapScale } from "../../plot/heatmap";
import { Plot } from "../../plot/Plot";
import type { GraphContext } from "./graph";
import { PanelSurface } from "./PanelSurface";
import { HeatmapTip } from "./HeatmapTip";
import { MovedTicks } from "./MovedTicks";
import { usePanelHeight } from "./PanelGrip";
import type { PictureSource } from "./picture_source";

/** The choice of a field or a distribution below the rows. */
const CHOICE_LINE = 32;

interface HeatmapGraphProps {
  readonly plan: PanelPlan;
  readonly graph: GraphContext;
  readonly block: SeriesBlock;
  readonly width: number;
  readonly onChoose: (choice: InstanceChoice) => void;
  readonly onSource: (source: PictureSource) => void;
}

/** Return the scale of a field: latencies of disks span decades, and the 8 ms of a disk access are marked. */
function scaleOfField(
  rules: readonly ReferenceRule[],
  { stat, fields, unit }: PanelPlan,
  field: FieldInfo | undefined,
): HeatmapScale {
  const isLatency = fields.some(({ meanings }) => meanings.includes("disk.latency"));
  if (!isLatency || field === undefined) {
    return { kind: "values", unit };
  }
  return {
    kind: "logarithm",
    unit,
    reference: referencesOf(rules, stat.name, [field]).find(({ isExpected }) => !isExpected)?.value ?? null,
  };
}

/** A heatmap of the buckets of one distribution (selectable if there are several), or of all instances of one field. */
export function HeatmapGraph({ plan, graph, block, width, onChoose, onSource }: HeatmapGraphProps) {
  const [chosen, setChosen] = useState<string | null>(null);
  const isOfInstances = plan.choice.kind === "heatmap";
  const distributions = useMemo(() => (isOfInstances ? instanceRows(block) : distributionsOf(block)), [block, isOfInstances]);
  const distribution = distributions.find(({ key }) => key === chosen) ?? distributions[0];
  const { window: shown, zone, scheme, pointer } = graph;
  const drawn = useMemo(() => windowOf(block), [block]);
  const nRows = distribution?.buckets.length ?? 0;
  const hasChoice = (isOfInstances && plan.fields.length > 1) || distributions.length > 1;
  // As high as a graph of lines with its legend, however many rows there are.
  const height = usePanelHeight(plan, graph, USUAL_HEIGHT) + LEGEND_LINE - (hasChoice ? CHOICE_LINE : 0);
  const [field] = fieldsAsked(plan);
  const worse = isOfInstances ? field?.worse : undefined;
  const pick = worse === "lower" ? "lowest" : "highest";
  const rules = useQuery(referencesQuery(graph.host)).data?.references;
  const scale = useMemo(
    (): HeatmapScale => (isOfInstances ? scaleOfField(rules ?? [], plan, field) : { kind: "decades" }),
    [isOfInstances, rules, plan, field],
  );
  const input = useMemo(
    (): HeatmapInput | null =>
      distribution === undefined
        ? null
        : {
            distribution,
            columns: columnsOf(block),
            pick,
            scale,
            window: drawn,
            zone,
            scheme,
            margins: HEATMAP_MARGINS,
            width,
            height,
          },
    [distribution, block, pick, scale, drawn, zone, scheme, width, height],
  );
  const figure = useMemo(() => (input === null ? null : buildHeatmapFigure(input)), [input]);
  useEffect(() => {
    if (input !== null) {
      onSource({ kind: "heatmap", input });
    }
  }, [onSource, input]);
  if (figure === null || distribution === undefined) {
    return null;
  }
  const name = isOfInstances ? (field?.column ?? "") : distribution.key === "" ? plan.title : distribution.key;
  const rows = isOfInstances ? "rows" : "buckets";
  return (
    <>
      <PanelSurface
        graph={graph}
        panel={plan.id}
        width={width}
        height={height}
        margins={HEATMAP_MARGINS}
        label={`${plan.title}, ${name}: use the arrow keys to step through the samples`}
        onStep={(from, direction) => nextSampleTime(block, from, direction)}
      >
        <Plot figure={figure} view={shown} label={`Heatmap of ${name}: ${String(nRows)} ${rows}, ${describeResolution(block)}`} />
        <MovedTicks shown={shown} zone={zone} width={width} margins={HEATMAP_MARGINS} />
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
      </PanelSurface>
      {isOfInstances && plan.fields.length > 1 && (
        <NativeSelect
          size="xs"
          w={180}
          ml={8}
          mt={2}
          aria-label="Field"
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
          w={320}
          ml={8}
          mt={2}
          aria-label="Distribution"
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
