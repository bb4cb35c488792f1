import { useCallbackRef, useHotkeys } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { lazy, Suspense, useDeferredValue, useMemo, useState } from "react";
import { useLive } from "../../api/live";
import { baselinesQuery, eventsQuery } from "../../api/queries";
import { mayWrite, useMe } from "../../components/me";
import { useSettled } from "../../components/useSettled";
import { newestBaseline } from "../../logic/against";
import type { HostInfo, StatInfo } from "../../logic/api";
import { eventsWindow, marksInside, momentToNote, toMarks } from "../../logic/event";
import { type Command, KEYS } from "../../logic/keys";
import { type PanelLook, withLook, withoutHeights } from "../../logic/look";
import type { Scheme } from "../../logic/palette";
import type { CustomPanel } from "../../logic/panel";
import {
  liveEnd,
  freezeRange,
  isGrowing,
  livePeriod,
  liveStep,
  resolveRange,
  shiftRange,
  toggleLive,
  usualLength,
  windowEndingAt,
  zoomRange,
} from "../../logic/range";
import { type EpochMs, fromApi, lengthOf, SECOND, toDurationMs, type Window, windowBetween } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { readNow, useNow } from "../../state/clock";
import { openPalette, useCommands } from "../../state/palette";
import { PointerStore } from "../../state/pointer";
import { encodeHostView, linkWith } from "../../state/url";
import { EventList } from "./Events";
import { Explore } from "./Explore";
import type { Dialog } from "./GraphDialog";
import type { GraphContext, Tool } from "./graph";
import { MarkBar } from "./MarkBar";
import { OverlayMenu } from "./OverlayMenu";
import { HostPanels, panelInHand } from "./HostPanels";
import { ShownProcesses } from "./ShownProcesses";
import { TimeStrip } from "./TimeStrip";
import { Toolbar } from "./Toolbar";
import { ViewMenu } from "./ViewMenu";
import { sayFrozen, usePanelChanges } from "./usePanelChanges";
import { useHostPanels } from "./useHostPanels";
import { useBandBaseline, useOverviewGraph, usePeriods } from "./usePeriods";
import type { HostViewState } from "./useHostView";

interface GraphsProps {
  readonly host: HostInfo;
  readonly stats: readonly StatInfo[];
  readonly state: HostViewState;
  readonly zone: Zone;
  readonly scheme: Scheme;
}

const GraphDialog = lazy(() => import("./GraphDialog").then((module) => ({ default: module.GraphDialog })));

const IDLE_PERIOD = toDurationMs(30 * SECOND);

/** The graphs of a host: many panels with a shared window and crosshair. */
export function Graphs({ host, stats, state, zone, scheme }: GraphsProps) {
  const { view, set } = state;
  const { range, mark } = view;
  const me = useMe();
  const router = useRouter();
  const [tool, setTool] = useState<Tool>("zoom");
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const [pointer] = useState(() => new PointerStore());
  const { data: listed, isPending: areBaselinesPending } = useQuery(baselinesQuery(host.name));
  const baselines = listed?.baselines;

  const isLive = isGrowing(range);
  const live = useLive(host.name, isLive, liveStep(usualLength(range)));
  const now = useNow(isLive ? livePeriod(usualLength(range), live.connection === "open") : IDLE_PERIOD);
  const { start, end } = resolveRange(range, liveEnd(now, isLive ? live : null), zone);
  const shown = useMemo(() => ({ start, end }), [start, end]);
  // First the drawings move, which is one attribute each; what is asked for, and the menus that name it, follow in a later render.
  const asked = useDeferredValue(useSettled(shown));

  const hostStats = useMemo(() => stats.filter(({ name }) => host.stats.includes(name)), [stats, host.stats]);
  const panels = useHostPanels(host, stats, view);
  const { viewSections, sections } = panels;

  const run = (command: Command): void => {
    const at = readNow();
    const subject = mark ?? resolveRange(range, liveEnd(at, null), zone);
    switch (command) {
      case "back":
      case "forward":
        set({ range: shiftRange(range, end, command === "back" ? -0.5 : 0.5, zone) });
        break;
      case "zoom-in":
      case "zoom-out":
        set({ range: zoomRange(range, end, command === "zoom-in" ? 0.5 : 2, zone) });
        break;
      case "undo":
        router.history.back();
        break;
      case "live": {
        const next = toggleLive(range, end, zone);
        set({ range: next });
        sayFrozen(next, zone, () => {
          set({ range });
        });
        break;
      }
      case "mark-tool":
        setTool(tool === "mark" ? "zoom" : "mark");
        break;
      case "baseline":
        if (mayWrite(me)) {
          setDialog({ kind: "baseline", window: subject });
        }
        break;
      case "exclude":
        if (mayWrite(me)) {
          setDialog({ kind: "exclude", window: subject });
        }
        break;
      case "event":
        if (mayWrite(me)) {
          setDialog({ kind: "event", window: mark ?? momentToNote(pointer.get().hovered, at, subject) });
        }
        break;
      case "processes":
        set({ instant: view.instant === null ? { at: pointer.get().hovered ?? subject.end, stat: null } : null });
        break;
      case "band":
        set({ bandId: view.bandId === null ? (newestBaseline(baselines ?? [])?.id ?? null) : null });
        break;
      case "compare":
      case "csv":
      case "add-panel":
        setDialog({ kind: command, window: subject });
        break;
      case "explore":
        openPalette("metrics");
        break;
      case "full":
        set({ fullPanel: view.fullPanel === null ? panelInHand() : null });
        break;
      case "cancel":
        if (view.fullPanel !== null) {
          set({ fullPanel: null });
        } else if (tool === "mark") {
          setTool("zoom");
        } else if (mark !== null) {
          set({ mark: null, markPanel: null });
        } else if (view.instant !== null) {
          set({ instant: null });
        }
    }
  };
  useCommands(useCallbackRef(run));
  useHotkeys(
    KEYS.flatMap(({ command, keys }) =>
      keys.map((key): [string, () => void] => [
        key,
        () => {
          if (dialog === null) {
            run(command);
          }
        },
      ]),
    ),
  );

  const bands = usePeriods(host.name, baselines, mark, shown);
  const events = useQuery(eventsQuery(host.name, eventsWindow(asked))).data;
  const marks = useMemo(() => marksInside(toMarks(events?.events ?? []), shown), [events, shown]);
  const bandBaseline = useBandBaseline(baselines, view.bandId);
  // Stable, so that panels render when their window changes, not each time the host is fetched.
  const onZoom = useCallbackRef((window: Window) => {
    set({ range: { kind: "fixed", window } });
  });
  const onMark = useCallbackRef((window: Window, panel: string | null) => {
    setTool("zoom");
    set({ mark: window, markPanel: panel });
  });
  const onLook = useCallbackRef((panel: string, change: Partial<PanelLook>) => {
    set({ looks: withLook(view.looks, panel, change) });
  });
  const onFull = useCallbackRef((fullPanel: string | null) => {
    set({ fullPanel });
  });
  const onZoomOut = useCallbackRef(() => {
    run("zoom-out");
  });
  const onShow = useCallbackRef((at: EpochMs) => {
    set({ range: { kind: "fixed", window: windowEndingAt(at, lengthOf(shown)) } });
  });
  const { changePanel, removePanel } = usePanelChanges(state);
  const linkTo = useCallbackRef((panel: string, window: Window) =>
    linkWith(
      encodeHostView({
        ...view,
        range: { kind: "fixed", window: windowBetween(window.start, window.end) },
        fullPanel: panel,
        explored: [],
      }),
    ),
  );
  const lastSampleAt = host.last_sample_at === null ? null : fromApi(host.last_sample_at);
  const hasCpuLabels = host.os.startsWith("SunOS") && host.stats.includes("host_facts");
  const graph = useMemo(
    (): GraphContext => ({
      host: host.name,
      window: shown,
      asked,
      isLive,
      zone,
      scheme,
      tool,
      pointer,
      bands,
      bandBaseline,
      overlay: view.overlay,
      events: marks,
      lastSampleAt,
      hasCpuLabels,
      onZoom,
      looks: view.looks,
      fullPanel: view.fullPanel,
      onFull,
      onLook,
      onMark,
      onZoomOut,
      onShow,
      linkTo,
    }),
    [
      host.name,
      shown,
      asked,
      isLive,
      zone,
      scheme,
      tool,
      pointer,
      bands,
      bandBaseline,
      view.overlay,
      marks,
      lastSampleAt,
      hasCpuLabels,
      onZoom,
      view.looks,
      view.fullPanel,
      onFull,
      onLook,
      onMark,
      onZoomOut,
      onShow,
      linkTo,
    ],
  );
  const overviewGraph = useOverviewGraph(graph);
  const addPanel = (panel: CustomPanel): void => {
    setDialog(null);
    set({ panels: [...view.panels, panel] });
  };
  return (
    <>
      <div className="host-bar">
        <Toolbar
          range={range}
          window={shown}
          zone={zone}
          tool={tool}
          connection={live.connection}
          baselines={baselines ?? []}
          bandBaseline={bandBaseline}
          onBand={(id) => {
            set({ bandId: id });
          }}
          overlayMenu={
            <OverlayMenu
              host={host.name}
              overlay={view.overlay}
              onChange={(overlay) => {
                set({ overlay });
              }}
            />
          }
          onRange={(next) => {
            set({ range: next });
          }}
          onCommand={run}
          frozenLink={range.kind === "fixed" ? null : linkWith(encodeHostView({ ...view, range: freezeRange(range, end, zone) }))}
          viewMenu={
            <ViewMenu
              viewKeys={view.viewKeys}
              plans={[...sections, ...viewSections].flatMap(({ panels }) => panels)}
              looks={view.looks}
              stats={stats}
              clock={view.clock}
              onChoose={(viewKeys) => {
                set({ viewKeys, fullPanel: null });
              }}
              onSized={() => {
                set({ looks: withoutHeights(view.looks) });
              }}
            />
          }
        />
        {/* Without the baselines it would begin a comparison with the hour before, and then another one. */}
        {mark !== null && !areBaselinesPending && (
          <MarkBar
            host={host.name}
            mark={mark}
            plan={sections.flatMap(({ panels }) => panels).find(({ id }) => id === view.markPanel) ?? null}
            baselines={baselines ?? []}
            bandId={view.bandId}
            clock={view.clock}
            zone={zone}
            mayWrite={mayWrite(me)}
            onBaseline={() => {
              run("baseline");
            }}
            onExclude={() => {
              run("exclude");
            }}
            onCompare={() => {
              run("compare");
            }}
            onNote={() => {
              run("event");
            }}
            onRun={() => {
              setDialog({ kind: "run", window: mark });
            }}
            onExport={() => {
              run("csv");
            }}
            onZoom={() => {
              set({ range: { kind: "fixed", window: mark } });
            }}
            onClear={() => {
              set({ mark: null, markPanel: null });
            }}
          />
        )}
        <TimeStrip
          graph={graph}
          clock={view.clock}
          events={
            <EventList
              host={host.name}
              marks={marks}
              nLeftOut={events?.n_left_out ?? 0}
              window={shown}
              zone={zone}
              onZoom={onZoom}
            />
          }
        />
      </div>
      <Explore
        metrics={view.explored}
        stats={hostStats}
        graph={graph}
        onChange={(explored) => {
          set({ explored });
        }}
        onAdd={(panel, explored) => {
          set({ panels: [...view.panels, panel], explored });
        }}
      />
      <HostPanels
        panels={panels}
        graph={graph}
        overviewGraph={overviewGraph}
        onChoose={changePanel}
        onRemove={removePanel}
        onSet={set}
      />
      <ShownProcesses state={state} graph={graph} window={shown} baselines={baselines ?? []} />
      {dialog && (
        <Suspense>
          <GraphDialog
            dialog={dialog}
            host={host.name}
            stats={hostStats}
            zone={zone}
            clock={view.clock}
            onAdd={addPanel}
            onClose={() => {
              setDialog(null);
            }}
          />
        </Suspense>
      )}
    </>
  );
}
