import { ActionIcon, Group, Menu, Text, Tooltip } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { IconDots } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import { csvAddress } from "../../api/endpoints";
import { seriesQuery } from "../../api/queries";
import { PanelHelp } from "../../components/FieldHelp";
import { StateView } from "../../components/StateView";
import { TimeSurface } from "../../components/TimeSurface";
import { useNear } from "../../components/useNear";
import type { SeriesBlock } from "../../logic/api";
import type { InstanceChoice, PanelPlan } from "../../logic/panel";
import {
  assignSlots,
  describeBlock,
  describeResolution,
  isBlockEmpty,
  legendOf,
  nextSampleTime,
  seriesKey,
  toggled,
} from "../../logic/series";
import { PANEL_MARGINS, pixelMs, requestWidth } from "../../logic/surface";
import { formatInstant } from "../../logic/zone";
import { buildPanelFigure } from "../../plot/figure";
import { Plot } from "../../plot/Plot";
import type { GraphContext } from "./graph";
import { HeatmapGraph } from "./HeatmapGraph";
import { InstanceMenu } from "./InstanceMenu";
import { Legend } from "./Legend";
import { SamplesDialog } from "./SamplesDialog";
import "./Panel.css";

const HEIGHT = 186;

interface PanelProps {
  readonly plan: PanelPlan;
  readonly graph: GraphContext;
  readonly onChoose: (choice: InstanceChoice) => void;
  readonly onRemove: (() => void) | null;
}

/** A graph of some fields of a stat, with its legend and menu. It asks for data once it is near the screen. */
export function Panel({ plan, graph, onChoose, onRemove }: PanelProps) {
  const frame = useRef<HTMLElement>(null);
  const isNear = useNear(frame);
  const { ref, width } = useElementSize();
  const [isTableOpen, setTableOpen] = useState(false);
  const block = useQuery({
    ...seriesQuery({
      host: graph.host,
      stat: plan.stat.name,
      fields: plan.fields.map(({ key }) => key),
      choice: plan.choice,
      window: graph.window,
      width: requestWidth(width - PANEL_MARGINS.left - PANEL_MARGINS.right),
    }),
    enabled: isNear && width > 0,
  });

  return (
    <section className="card panel" ref={frame} aria-label={plan.title} data-panel={plan.id}>
      <Group className="panel-head" gap={6} wrap="nowrap">
        <Tooltip label={`${plan.stat.title} (${plan.stat.name})`}>
          <h3 className="panel-title">{plan.title}</h3>
        </Tooltip>
        {plan.choice.kind !== "one" && <InstanceMenu plan={plan} graph={graph} onChoose={onChoose} />}
        <Text className="panel-note soft" title={block.data ? describeResolution(block.data) : ""}>
          {block.data && !isBlockEmpty(block.data) ? describeBlock(block.data) : ""}
        </Text>
        <PanelHelp stat={plan.stat} fields={plan.fields} />
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon size="sm" aria-label={`More about ${plan.title}`}>
              <IconDots size={15} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item component="a" href={csvAddress(graph.host, graph.window, plan.stat.name)} download>
              CSV of {plan.stat.name} in this window, every sample
            </Menu.Item>
            <Menu.Item
              disabled={block.data === undefined}
              onClick={() => {
                setTableOpen(true);
              }}
            >
              Show the points as a table
            </Menu.Item>
            {onRemove && <Menu.Item onClick={onRemove}>Remove this panel</Menu.Item>}
          </Menu.Dropdown>
        </Menu>
      </Group>
      <div ref={ref} className="panel-body" data-stale={block.isPlaceholderData && block.isFetching}>
        {block.data === undefined ? (
          <div className="panel-pending">
            <StateView
              isCompact
              state={
                block.error ? { kind: "error", error: block.error, onRetry: () => void block.refetch() } : { kind: "loading" }
              }
            />
          </div>
        ) : isBlockEmpty(block.data) && !block.isPlaceholderData ? (
          <div className="panel-pending panel-empty">
            <EmptyPanel plan={plan} graph={graph} />
          </div>
        ) : plan.stat.shape === "histogram" ? (
          <HeatmapGraph plan={plan} graph={graph} block={block.data} width={width} />
        ) : (
          <PanelGraph plan={plan} graph={graph} block={block.data} width={width} />
        )}
      </div>
      {isTableOpen && block.data && (
        <SamplesDialog
          plan={plan}
          block={block.data}
          zone={graph.zone}
          onClose={() => {
            setTableOpen(false);
          }}
        />
      )}
    </section>
  );
}

function EmptyPanel({ plan, graph }: { readonly plan: PanelPlan; readonly graph: GraphContext }) {
  const { lastSampleAt } = graph;
  const isPast = lastSampleAt !== null && lastSampleAt < graph.window.start;
  return (
    <StateView
      isCompact
      state={{
        kind: "empty",
        title: "No samples in this window",
        next: isPast ? (
          <button
            type="button"
            className="text-button"
            onClick={() => {
              graph.onShow(lastSampleAt);
            }}
          >
            Show the last ones, at {formatInstant(graph.zone, lastSampleAt)}
          </button>
        ) : plan.choice.kind === "only" ? (
          "Choose other instances, or another window."
        ) : (
          "Choose another window; the strip at the top shows where there are samples."
        ),
      }}
    />
  );
}

interface PanelGraphProps {
  readonly plan: PanelPlan;
  readonly graph: GraphContext;
  readonly block: SeriesBlock;
  readonly width: number;
}

function PanelGraph({ plan, graph, block, width }: PanelGraphProps) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [known, setSlots] = useState<ReadonlyMap<string, number>>(new Map());
  const keys = useMemo(() => block.series.map(seriesKey), [block]);
  const slots = assignSlots(known, keys);
  if (slots !== known) {
    setSlots(slots);
  }
  const { window: drawn, zone, scheme, pointer } = graph;
  const entries = useMemo(
    () => legendOf(block, plan.fields, pixelMs(width, PANEL_MARGINS, drawn)),
    [block, plan.fields, width, drawn],
  );
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
      }),
    [block, drawn, plan, hidden, slots, zone, scheme, width],
  );
  return (
    <>
      <TimeSurface
        width={width}
        height={HEIGHT}
        margins={PANEL_MARGINS}
        window={drawn}
        tool={graph.tool}
        pointer={pointer}
        bands={graph.bands}
        label={`${plan.title}: arrow keys move the crosshair from sample to sample`}
        onZoom={graph.onZoom}
        onMark={graph.onMark}
        onZoomOut={graph.onZoomOut}
        onStep={(direction) => {
          pointer.set({ hovered: nextSampleTime(block, pointer.get().hovered, direction) });
        }}
      >
        <span className="panel-unit">{figure.axisUnit === "" ? "number" : figure.axisUnit}</span>
        <Plot figure={figure} label={`${plan.title}, ${describeResolution(block)}`} />
      </TimeSurface>
      <Legend
        entries={entries}
        hidden={hidden}
        slots={slots}
        scheme={scheme}
        pointer={pointer}
        unit={figure.axisUnit === plan.unit ? "" : plan.unit}
        onToggle={(key, isAlone) => {
          setHidden(toggled(hidden, key, keys, isAlone));
        }}
      />
    </>
  );
}
