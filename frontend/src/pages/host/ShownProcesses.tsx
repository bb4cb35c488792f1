import { lazy, Suspense } from "react";
import type { BaselineInfo } from "../../logic/api";
import { newestBaseline } from "../../logic/against";
import type { Window } from "../../logic/time";
import type { GraphContext } from "./graph";
import type { HostViewState } from "./useHostView";
import { useShownInstant } from "./useShownInstant";

interface ShownProcessesProps {
  readonly state: HostViewState;
  readonly graph: GraphContext;
  readonly window: Window;
  readonly baselines: readonly BaselineInfo[];
}

const ProcessSheet = lazy(() => import("./ProcessSheet").then((module) => ({ default: module.ProcessSheet })));

/** The processes at the instant that was picked in a graph; nothing until one is. */
export function ShownProcesses({ state, graph, window, baselines }: ShownProcessesProps) {
  const { instant } = state.view;
  const { host, zone, scheme, pointer, bandBaseline } = graph;
  const showPanel = useShownInstant(pointer, instant, (picked) => {
    state.set({ instant: picked });
  });
  return (
    instant !== null && (
      <Suspense>
        <ProcessSheet
          host={host}
          instant={instant}
          window={window}
          baseline={bandBaseline ?? newestBaseline(baselines)}
          zone={zone}
          scheme={scheme}
          pointer={pointer}
          onOpened={showPanel}
          onInstant={(next) => {
            state.set({ instant: next });
          }}
          onShow={(command, pid) => {
            state.set({ tab: "processes", process: { command, pid } });
          }}
        />
      </Suspense>
    )
  );
}
