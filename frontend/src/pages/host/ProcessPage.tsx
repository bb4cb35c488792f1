import { Alert, Button, Group, Text, Title } from "@mantine/core";
import { useCallbackRef } from "@mantine/hooks";
import { IconArrowLeft } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import { ApiError } from "../../api/client";
import { processQuery } from "../../api/processes";
import { eventsQuery } from "../../api/queries";
import { PageLink } from "../../components/PageLink";
import { StateView } from "../../components/StateView";
import { eventsWindow, marksInside, toMarks } from "../../logic/event";
import { type PanelLook, withLook } from "../../logic/look";
import type { InstanceChoice, PanelPlan } from "../../logic/panel";
import { lastSampleOf, processPanels, processTitle, sectionsOf } from "../../logic/process";
import { windowEndingAt, zoomRange } from "../../logic/range";
import { type EpochMs, lengthOf, type Window } from "../../logic/time";
import { PointerStore } from "../../state/pointer";
import { encodeHostView, linkWith, type ProcessName } from "../../state/url";
import type { GraphContext } from "./graph";
import { Panel } from "./Panel";
import { LifeTable } from "./LifeTable";
import type { ProcessesProps } from "./Processes";
import { nodes } from "../../components/nodes";

interface ProcessPageProps extends ProcessesProps {
  readonly process: ProcessName;
  readonly window: Window;
  readonly children: ReactNode;
}

/** One command or process: who started it and how, its beginning and end, and its lines in every stat that has it. */
export function ProcessPage({ host, stats, state, zone, scheme, process, window: shown, children }: ProcessPageProps) {
  const { view } = state;
  const detail = useQuery(processQuery(host.name, shown, process));
  const panels = useMemo(() => (detail.data === undefined ? [] : processPanels(detail.data, stats)), [detail.data, stats]);
  const sections = useMemo(() => sectionsOf(panels), [panels]);
  const [pointer] = useState(() => new PointerStore());
  const onZoom = useCallbackRef((window: Window) => {
    state.set({ range: { kind: "fixed", window } });
  });
  const onMark = useCallbackRef((mark: Window, markPanel: string | null) => {
    state.set({ mark, markPanel });
  });
  const onLook = useCallbackRef((panel: string, change: Partial<PanelLook>) => {
    state.set({ looks: withLook(view.looks, panel, change) });
  });
  const onZoomOut = useCallbackRef(() => {
    state.set({ range: zoomRange(view.range, shown.end, 2, zone) });
  });
  const onShow = useCallbackRef((at: EpochMs) => {
    state.set({ range: { kind: "fixed", window: windowEndingAt(at, lengthOf(shown)) } });
  });
  // The panels of a process are few: the link shows them all.
  const linkTo = useCallbackRef((_panel: string, window: Window) =>
    linkWith(encodeHostView({ ...view, range: { kind: "fixed", window } })),
  );
  // Other instances than this process are shown on the page of the host.
  const choose = useCallbackRef((plan: PanelPlan, choice: InstanceChoice) => {
    const own = { stat: plan.stat.name, fields: plan.fields.map(({ key }) => key), choice };
    state.set({ tab: "graphs", process: null, panels: [own, ...view.panels] });
  });
  const lastSampleAt = detail.data === undefined ? null : lastSampleOf(detail.data);
  const events = useQuery(eventsQuery(host.name, eventsWindow(shown))).data;
  const marks = useMemo(() => marksInside(toMarks(events?.events ?? []), shown), [events, shown]);
  const graph = useMemo(
    (): GraphContext => ({
      host: host.name,
      window: shown,
      asked: shown,
      isLive: false,
      zone,
      scheme,
      tool: "zoom",
      pointer,
      bands: view.mark === null ? [] : [{ key: "mark", kind: "mark", label: "selection", window: view.mark }],
      events: marks,
      hasCpuLabels: false,
      bandBaseline: null,
      overlay: null,
      lastSampleAt,
      looks: view.looks,
      fullPanel: null,
      onFull: null,
      onZoom,
      onLook,
      onMark,
      onZoomOut,
      onShow,
      linkTo,
    }),
    [
      host.name,
      shown,
      zone,
      scheme,
      pointer,
      view.mark,
      marks,
      lastSampleAt,
      view.looks,
      onZoom,
      onLook,
      onMark,
      onZoomOut,
      onShow,
      linkTo,
    ],
  );
  return (
    <>
      <div className="process-bar">
        <Button
          variant="default"
          leftSection={<IconArrowLeft size={14} />}
          onClick={() => {
            state.set({ process: null });
          }}
        >
          All processes
        </Button>
        {children}
        <PageLink
          to="/hosts/$host"
          params={{ host: host.name }}
          search={encodeHostView({ ...view, tab: "graphs", process: null })}
          fz="sm"
        >
          {`Graphs of ${host.name} in this window`}
        </PageLink>
      </div>
      <Group gap="sm" align="baseline">
        <Title order={2}>{processTitle(process)}</Title>
        {process.pid !== null && (
          <button
            type="button"
            className="text-button"
            onClick={() => {
              state.set({ process: { command: process.command, pid: null } });
            }}
          >
            {`All processes of ${process.command}`}
          </button>
        )}
      </Group>
      {detail.data === undefined ? (
        <StateView
          state={
            detail.error === null
              ? { kind: "loading", what: processTitle(process) }
              : detail.error instanceof ApiError && detail.error.status === 404
                ? { kind: "empty", title: "Not found", next: detail.error.message }
                : { kind: "error", error: detail.error, onRetry: () => void detail.refetch() }
          }
        />
      ) : (
        <>
          {process.pid !== null && (
            <LifeTable
              lives={detail.data.lives}
              window={shown}
              zone={zone}
              onParent={(parent) => {
                state.set({ process: parent });
              }}
              onWindow={onZoom}
            />
          )}
          {process.pid !== null && detail.data.other_commands.length > 0 && (
            <Text fz="sm">
              {nodes`PID ${String(process.pid)} was also ${detail.data.other_commands.map((command, index) => (
                <span key={command}>
                  {index > 0 && ", "}
                  <button
                    type="button"
                    className="text-button"
                    onClick={() => {
                      state.set({ process: { command, pid: process.pid } });
                    }}
                  >
                    {command}
                  </button>
                </span>
              ))}.`}
            </Text>
          )}
          {detail.error !== null && (
            <Alert color="red" title="This could not be read again">
              {detail.error.message}
            </Alert>
          )}
          {sections.map(([title, plans]) => (
            <section key={title} className="host-section" aria-label={title}>
              <h2>{title}</h2>
              <div className="host-panels">
                {plans.map((plan) => (
                  <Panel key={plan.id} plan={plan} graph={graph} onChoose={choose} onRemove={noop} />
                ))}
              </div>
            </section>
          ))}
        </>
      )}
    </>
  );
}

function noop(): void {
  // Panels of a process have no entry "Remove panel".
}
