import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { instancesQuery } from "../../api/queries";
import { eventsWindow } from "../../logic/event";
import type { PanelPlan } from "../../logic/panel";
import type { Window } from "../../logic/time";
import type { GraphContext } from "./graph";

const NONE: ReadonlyMap<string, string> = new Map();

/** Return what the host's facts tell of the CPUs of a panel in a window, by instance. Only hosts that may have such facts are asked. */
export function useInstanceLabels(plan: PanelPlan, graph: GraphContext, drawn: Window): ReadonlyMap<string, string> {
  const isAsked = graph.hasCpuLabels && plan.stat.instance_title.startsWith("CPU");
  // The window of a live page moves each second.
  const window = graph.isLive ? eventsWindow(drawn) : drawn;
  const { data } = useQuery({ ...instancesQuery(graph.host, plan.stat.name, window), enabled: isAsked });
  return useMemo(
    () =>
      data === undefined ? NONE : new Map(data.instances.flatMap(({ name, label }) => (label === "" ? [] : [[name, label]]))),
    [data],
  );
}
