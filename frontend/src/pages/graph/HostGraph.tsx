import { Alert, Group, Text } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { hostLinesQuery } from "../../api/host_lines";
import { PendingView, StateView } from "../../components/StateView";
import { useSettled } from "../../components/useSettled";
import {
  decodeHostLines,
  describeHostLines,
  describeMissing,
  type HostLines,
  zoneOfGraph,
  zoomRuns,
} from "../../logic/host_lines";
import type { Scheme } from "../../logic/palette";
import { isGrowing, livePeriod, resolveRange, usualLength, zoomRange } from "../../logic/range";
import { PANEL_MARGINS, plotWidth, requestWidth } from "../../logic/surface";
import { fromApi, lengthOf, SECOND, toDurationMs, toEpochMs, type Window } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { useNow } from "../../state/clock";
import { usePlots } from "../../plot/Plot";
import type { GraphView } from "../../state/graph";
import type { PointerStore } from "../../state/pointer";
import { GraphFiles } from "./GraphFiles";
import { HostHeatmap } from "./HostHeatmap";
import { LineGraph } from "./LineGraph";
import { LineTable } from "./LineTable";
import { SmallGraphs } from "./SmallGraphs";
import type { GraphViewState } from "./useGraphView";

export interface HostGraphProps {
  readonly state: GraphViewState;
  readonly metric: string;
  readonly zone: Zone;
  readonly scheme: Scheme;
  /** One crosshair for all graphs of the page. */
  readonly pointer: PointerStore;
  /** Whether it is the only graph of the page; else it has no table of its lines. */
  readonly isAlone: boolean;
}

/** What every kind of graph of this page needs. */
export interface HostGraphContext {
  readonly block: HostLines;
  /** The window that was fetched; of runs it begins at 1970-01-01T00:00:00Z. */
  readonly window: Window;
  readonly zone: Zone;
  readonly scheme: Scheme;
  readonly pointer: PointerStore;
  readonly width: number;
  /** The palette index of each line, by key. */
  readonly slots: ReadonlyMap<string, number>;
  readonly onZoom: (window: Window) => void;
  readonly onZoomOut: () => void;
}

const IDLE_PERIOD = toDurationMs(30 * SECOND);

/** The graph of a metric, the table of its lines, and the hosts without one. */
export function HostGraph({ state, metric, zone, scheme, pointer, isAlone }: HostGraphProps) {
  const { view, set } = state;
  const { ref, width: measured } = useElementSize();
  const width = useSettled(measured);
  const isElapsed = view.runs.length > 0;
  const isLive = !isElapsed && isGrowing(view.range);
  const now = useNow(isLive ? livePeriod(usualLength(view.range), false) : IDLE_PERIOD);
  const { start, end } = windowOf(view, now, zone);
  const asked = useSettled(useMemo(() => ({ start, end }), [start, end]));
  const found = useQuery({
    ...hostLinesQuery({
      hosts: isElapsed ? [] : view.hosts,
      group: isElapsed ? null : view.group,
      tag: isElapsed ? null : view.tag,
      runs: view.runs,
      metric,
      instance: view.instance,
      across: view.across,
      over: view.over,
      top: view.top,
      window: asked,
      width: requestWidth(plotWidth(width, PANEL_MARGINS)),
    }),
    enabled: width > 0,
  });
  usePlots(found.isFetching);
  const { data } = found;
  const block = useMemo(() => (data === undefined ? null : decodeHostLines(data, zone)), [data, zone]);
  const slots = useMemo(() => slotsOf(block), [block]);
  return (
    <div ref={ref} className="graph-body" aria-busy={found.isFetching}>
      {block === null || width === 0 ? (
        <div className="card">
          <PendingView query={found} what="the lines" />
        </div>
      ) : (
        <DrawnBlock
          view={view}
          isAlone={isAlone}
          graph={{
            block,
            window: { start: fromApi(block.start), end: fromApi(block.end) },
            zone: zoneOfGraph(isElapsed, zone),
            scheme,
            pointer,
            width: width - 12,
            slots,
            onZoom: (window) => {
              set(
                isElapsed
                  ? { runs: zoomRuns(view.runs, window), length: lengthOf(window) }
                  : { range: { kind: "fixed", window } },
              );
            },
            onZoomOut: () => {
              set(isElapsed ? { length: toDurationMs(2 * view.length) } : { range: zoomRange(view.range, end, 2, zone) });
            },
          }}
        />
      )}
    </div>
  );
}

/** Return the window to show; runs are drawn from 1970-01-01T00:00:00Z on. */
function windowOf(view: GraphView, now: Window["end"], zone: Zone): Window {
  return view.runs.length > 0 ? { start: toEpochMs(0), end: toEpochMs(view.length) } : resolveRange(view.range, now, zone);
}

/** Colours by name, so that a line keeps its colour while the order of the worst changes. */
function slotsOf(block: HostLines | null): ReadonlyMap<string, number> {
  const keys = block === null ? [] : block.lines.map(({ key }) => key).sort((a, b) => (a < b ? -1 : 1));
  return new Map(keys.map((key, index) => [key, index]));
}

interface DrawnBlockProps {
  readonly view: GraphView;
  readonly isAlone: boolean;
  readonly graph: HostGraphContext;
}

function DrawnBlock({ view, isAlone, graph }: DrawnBlockProps) {
  const { block } = graph;
  const { metric } = block;
  return (
    <>
      <section className="card graph-card" aria-label={metric?.title ?? "Graph"}>
        <Group gap={8} wrap="nowrap" className="graph-head">
          <h2 title={metric?.help}>{metric === null ? "No such hosts" : metric.title}</h2>
          <Text className="graph-note soft">{describeHostLines(block)}</Text>
          {block.lines.length > 0 && <GraphFiles graph={graph} kind={view.kind} />}
        </Group>
        {block.lines.length === 0 ? (
          <StateView
            isCompact
            state={{
              kind: "empty",
              title: "None of these hosts has samples of this metric in this window",
              next: "Choose another window, another metric, or other hosts. The list below says why each host has no line.",
            }}
          />
        ) : view.kind === "heatmap" ? (
          <HostHeatmap graph={graph} />
        ) : view.kind === "small" ? (
          <SmallGraphs graph={graph} />
        ) : (
          <LineGraph graph={graph} />
        )}
        {describeMissing(block) !== "" && <p className="graph-missing">{describeMissing(block)}</p>}
      </section>
      <LeftOut block={block} />
      {isAlone && block.lines.length > 0 && <LineTable graph={graph} view={view} />}
    </>
  );
}

/** The hosts without a line, and why. */
function LeftOut({ block }: { readonly block: HostLines }) {
  return block.left_out.length === 0 ? null : (
    <Alert color="yellow" py={8} my="sm" title={`${String(block.left_out.length)} of ${String(block.n_asked)} not drawn`}>
      <ul className="graph-left-out">
        {block.left_out.map(({ host, reason }, index) => (
          <li key={`${host} ${String(index)}`}>{reason}</li>
        ))}
      </ul>
    </Alert>
  );
}
