import { NativeSelect } from "@mantine/core";
import { useMemo, useState } from "react";
import { TimeSurface } from "../../components/TimeSurface";
import type { SeriesBlock } from "../../logic/api";
import { distributionsOf } from "../../logic/histogram";
import type { PanelPlan } from "../../logic/panel";
import { describeResolution, nextSampleTime } from "../../logic/series";
import { HEATMAP_MARGINS } from "../../logic/surface";
import { buildHeatmapFigure } from "../../plot/heatmap";
import { Plot } from "../../plot/Plot";
import type { GraphContext } from "./graph";

const HEIGHT = 220;

interface HeatmapGraphProps {
  readonly plan: PanelPlan;
  readonly graph: GraphContext;
  readonly block: SeriesBlock;
  readonly width: number;
}

/** The buckets of one distribution over time; where the tool printed several, one of them is chosen. */
export function HeatmapGraph({ plan, graph, block, width }: HeatmapGraphProps) {
  const [chosen, setChosen] = useState<string | null>(null);
  const distributions = useMemo(() => distributionsOf(block), [block]);
  const distribution = distributions.find(({ key }) => key === chosen) ?? distributions[0];
  const { window: drawn, zone, scheme, pointer } = graph;
  const figure = useMemo(
    () =>
      distribution === undefined
        ? null
        : buildHeatmapFigure({ distribution, window: drawn, zone, scheme, margins: HEATMAP_MARGINS, width, height: HEIGHT }),
    [distribution, drawn, zone, scheme, width],
  );
  if (figure === null || distribution === undefined) {
    return null;
  }
  const name = distribution.key === "" ? plan.title : distribution.key;
  return (
    <>
      <TimeSurface
        width={width}
        height={HEIGHT}
        margins={HEATMAP_MARGINS}
        window={drawn}
        tool={graph.tool}
        pointer={pointer}
        bands={graph.bands}
        label={`${plan.title}, ${name}: arrow keys move the crosshair from sample to sample`}
        onZoom={graph.onZoom}
        onMark={graph.onMark}
        onZoomOut={graph.onZoomOut}
        onStep={(direction) => {
          pointer.set({ hovered: nextSampleTime(block, pointer.get().hovered, direction) });
        }}
      >
        <Plot
          figure={figure}
          label={`Heatmap of ${name}: ${String(distribution.buckets.length)} buckets, ${describeResolution(block)}`}
        />
      </TimeSurface>
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
