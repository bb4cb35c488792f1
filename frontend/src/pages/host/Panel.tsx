import { Group, Text, Tooltip } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { lazy, memo, Suspense, useCallback, useMemo, useRef, useState } from "react";
import { isNotFound } from "../../api/client";
import { referencesQuery } from "../../api/queries";
import { seriesQuery } from "../../api/series";
import { mayWrite, useMe } from "../../components/me";
import { PanelHelp } from "../../components/FieldHelp";
import { PendingView, StateView } from "../../components/StateView";
import { useNear } from "../../components/useNear";
import { useSettled } from "../../components/useSettled";
import { graphNote } from "../../logic/note";
import { fieldsAsked, type InstanceChoice, isHeatmap, type PanelPlan, planFor } from "../../logic/panel";
import { DEFAULT_LOOK, LEGEND_LINE, USUAL_HEIGHT } from "../../logic/look";
import { referencesOf } from "../../logic/reference";
import { describeBlock, instancesIn, isBlockEmpty } from "../../logic/series";
import { HEATMAP_MARGINS, PANEL_MARGINS, plotWidth, requestWidth } from "../../logic/surface";
import type { ViewPanel } from "../../logic/api";
import { toIso, type Window } from "../../logic/time";
import { toViewPanel } from "../../logic/view";
import { formatInstant } from "../../logic/zone";
import { PIXELS_PER_COLUMN } from "../../plot/heatmap";
import { usePlots } from "../../plot/Plot";
import { BalanceGraph } from "./BalanceGraph";
import { BookmarkButton } from "./BookmarkButton";
import { ExpectedForm } from "./ExpectedForm";
import type { GraphContext } from "./graph";
import { HeatmapGraph } from "./HeatmapGraph";
import { InstanceMenu } from "./InstanceMenu";
import { PanelGrip, usePanelHeight } from "./PanelGrip";
import { PanelGraph, type PanelGraphProps } from "./PanelGraph";
import type { PictureSource } from "./picture_source";
import { type PanelDialog, PanelMenu, type Taken } from "./PanelMenu";
import { TakenNote, useTaken } from "./TakenNote";
import "./Panel.css";

// Loaded when they are opened.
const AddToViewDialog = lazy(() => import("./AddToViewDialog").then((module) => ({ default: module.AddToViewDialog })));
const AddToReportDialog = lazy(() =>
  import("../../components/AddToReport").then((module) => ({ default: module.AddToReportDialog })),
);
const LookDialog = lazy(() => import("./LookDialog").then((module) => ({ default: module.LookDialog })));
const RelatedDialog = lazy(() => import("./RelatedDialog").then((module) => ({ default: module.RelatedDialog })));
const SamplesDialog = lazy(() => import("./SamplesDialog").then((module) => ({ default: module.SamplesDialog })));

interface PanelProps {
  readonly plan: PanelPlan;
  readonly graph: GraphContext;
  readonly onChoose: (plan: PanelPlan, choice: InstanceChoice) => void;
  readonly onRemove: (plan: PanelPlan) => void;
}

/** A graph of some fields of a stat, with legend and menu. It fetches data once it is near the viewport. */
export const Panel = memo(function Panel(props: PanelProps) {
  const frame = useRef<HTMLElement>(null);
  const isNear = useNear(frame);
  return (
    <article className="card panel" ref={frame} aria-label={props.plan.title} data-panel={props.plan.id}>
      <NearPanel {...props} isNear={isNear} />
    </article>
  );
});

interface NearPanelProps extends PanelProps {
  readonly isNear: boolean;
}

/** Keeps a panel as drawn while it is off-screen. */
const NearPanel = memo(
  PanelContent,
  (before, next) => before.plan === next.plan && before.isNear === next.isNear && (!next.isNear || before.graph === next.graph),
);

function PanelContent({ plan: given, graph, onChoose, onRemove, isNear }: NearPanelProps) {
  const [nInstances, setInstances] = useState(0);
  const plan = useMemo(() => planFor(given, nInstances), [given, nInstances]);
  const isBalance = plan.choice.kind === "balance";
  const { ref, width: measured } = useElementSize();
  const width = useSettled(measured);
  const height = usePanelHeight(plan, graph, USUAL_HEIGHT);
  const [dialog, setDialog] = useState<PanelDialog | null>(null);
  const [asked, setAsked] = useState(graph.asked);
  const block = useQuery({
    ...seriesQuery({
      host: graph.host,
      stat: plan.stat.name,
      fields: fieldsAsked(plan).map(({ key }) => key),
      choice: plan.choice,
      window: asked,
      width: requestedWidth(plan, width),
    }),
    enabled: isNear && width > 0 && !isBalance,
    // A live page uses a new query key every second.
    gcTime: graph.isLive ? 5_000 : 60_000,
  });
  usePlots(block.isFetching);
  // A live window that moves on must not cancel requests in flight, or a slow graph would never be drawn; users may cancel them.
  if (isNear && asked !== graph.asked && !(graph.isLive && block.fetchStatus === "fetching")) {
    setAsked(graph.asked);
  }
  // Counted on lines only: an instance without the one field of a heatmap is none of its rows.
  const found = block.data === undefined || plan !== given ? nInstances : instancesIn(block.data);
  if (found !== nInstances && !block.isPlaceholderData) {
    setInstances(found);
  }
  const choose = useCallback(
    (choice: InstanceChoice) => {
      onChoose(plan, choice);
    },
    [onChoose, plan],
  );
  const source = useRef<PictureSource | null>(null);
  const onSource = useCallback((next: PictureSource) => {
    source.current = next;
  }, []);
  const close = useCallback(() => {
    setDialog(null);
  }, []);
  const taken = useTaken(plan, graph, asked, source);
  const bookmark = useMemo(() => toViewPanel(given, graph.looks), [given, graph.looks]);

  return (
    <>
      <PanelHead
        plan={plan}
        bookmark={bookmark}
        host={graph.host}
        asked={asked}
        note={block.data && !isBlockEmpty(block.data) ? describeBlock(block.data) : ""}
        onChoose={choose}
        onOpen={setDialog}
        isFull={graph.fullPanel === given.id}
        onFull={graph.onFull}
        onTake={taken.take}
        onRemove={plan.customIndex === null ? null : onRemove}
      />
      <TakenNote taken={taken} />
      <div
        ref={ref}
        className="panel-body"
        style={{ minHeight: height + LEGEND_LINE }}
        data-stale={block.isPlaceholderData && block.isFetching}
      >
        {isBalance ? (
          width > 0 && <BalanceGraph plan={plan} graph={graph} asked={asked} width={width} isNear={isNear} />
        ) : block.data === undefined && isNotFound(block.error) ? (
          <div className="panel-pending">
            <StateView
              isCompact
              state={{ kind: "empty", title: block.error.message, next: "Choose other instances or another window." }}
            />
          </div>
        ) : block.data === undefined ? (
          <div className="panel-pending">
            <PendingView isCompact query={block} />
          </div>
        ) : isBlockEmpty(block.data) && !block.isPlaceholderData ? (
          <div className="panel-pending">
            <EmptyPanel plan={plan} graph={graph} />
          </div>
        ) : (
          <DrawnPanel plan={plan} graph={graph} block={block.data} width={width} onChoose={choose} onSource={onSource} />
        )}
      </div>
      <PanelGrip plan={plan} graph={graph} />
      <Suspense fallback={null}>
        {dialog === "look" && <PanelLookDialog plan={plan} graph={graph} onClose={close} />}
        {dialog === "view" && <AddToViewDialog panel={bookmark} host={graph.host} onClose={close} />}
        {dialog === "report" && (
          <AddToReportDialog
            note={graphNote(plan, graph.host, toIso(graph.window.start), toIso(graph.window.end))}
            onClose={close}
          />
        )}
        {dialog === "related" && block.data && <RelatedDialog plan={plan} graph={graph} block={block.data} onClose={close} />}
        {dialog === "table" && block.data && <SamplesDialog plan={plan} graph={graph} block={block.data} onClose={close} />}
      </Suspense>
    </>
  );
}

interface PanelLookDialogProps {
  readonly plan: PanelPlan;
  readonly graph: GraphContext;
  readonly onClose: () => void;
}

function PanelLookDialog({ plan, graph, onClose }: PanelLookDialogProps) {
  const me = useMe();
  const rules = useQuery(referencesQuery(graph.host)).data?.references ?? [];
  return (
    <LookDialog
      plan={plan}
      look={graph.looks.get(plan.id) ?? DEFAULT_LOOK}
      references={referencesOf(rules, plan.stat.name, plan.fields)}
      expected={mayWrite(me) ? <ExpectedForm host={graph.host} plan={plan} rules={rules} /> : null}
      onLook={(change) => {
        graph.onLook(plan.id, change);
      }}
      onClose={onClose}
    />
  );
}

/** Return the width to request: a heatmap needs at most one column per cell. */
function requestedWidth(plan: PanelPlan, width: number): number {
  return isHeatmap(plan)
    ? requestWidth(plotWidth(width, HEATMAP_MARGINS) / PIXELS_PER_COLUMN)
    : requestWidth(plotWidth(width, PANEL_MARGINS));
}

interface PanelHeadProps {
  readonly plan: PanelPlan;
  /** The panel as a view has it. */
  readonly bookmark: ViewPanel;
  readonly host: string;
  readonly asked: Window;
  readonly note: string;
  readonly onChoose: (choice: InstanceChoice) => void;
  readonly onOpen: (dialog: PanelDialog) => void;
  readonly isFull: boolean;
  readonly onFull: GraphContext["onFull"];
  readonly onTake: (what: Taken) => void;
  readonly onRemove: ((plan: PanelPlan) => void) | null;
}

/** Menus cost more to render than lines, so they wait until the window is stable. */
const PanelHead = memo(function PanelHead(props: PanelHeadProps) {
  const { plan, bookmark, host, asked, note, isFull, onChoose, onOpen, onFull, onTake, onRemove } = props;
  return (
    <Group className="panel-head" gap={6} wrap="nowrap">
      <Tooltip label={`${plan.stat.title} (${plan.stat.name})`}>
        <h3 className="panel-title">{plan.title}</h3>
      </Tooltip>
      {plan.choice.kind !== "one" && <InstanceMenu plan={plan} host={host} window={asked} onChoose={onChoose} />}
      <Text className="panel-note soft" title={note}>
        {note}
      </Text>
      <PanelHelp stat={plan.stat} fields={plan.fields} />
      <BookmarkButton title={plan.title} panel={bookmark} />
      <PanelMenu
        plan={plan}
        host={host}
        window={asked}
        isDrawn={note !== ""}
        isFull={isFull}
        onOpen={onOpen}
        onFull={onFull}
        onTake={onTake}
        onRemove={onRemove}
      />
    </Group>
  );
});

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
            {`Show the last samples, at ${formatInstant(graph.zone, lastSampleAt)}`}
          </button>
        ) : plan.choice.kind === "only" ? (
          "Choose other instances or another window."
        ) : (
          "Choose another window. The strip at the top shows where there are samples."
        ),
      }}
    />
  );
}

function DrawnPanel({ onChoose, ...props }: PanelGraphProps & { readonly onChoose: (choice: InstanceChoice) => void }) {
  return isHeatmap(props.plan) ? <HeatmapGraph {...props} onChoose={onChoose} /> : <PanelGraph {...props} />;
}
