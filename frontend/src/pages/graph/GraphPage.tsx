import { Title, useComputedColorScheme } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { hostMetricsQuery } from "../../api/host_lines";
import { hostGroupsQuery } from "../../api/baselines";
import { hostsQuery } from "../../api/queries";
import { IgnoredNote } from "../../components/IgnoredNote";
import { PendingView, StateView } from "../../components/StateView";
import { useNear } from "../../components/useNear";
import { useZone } from "../../components/zone";
import type { HostInfo, HostMetrics } from "../../logic/api";
import { tagsOf } from "../../logic/fleet";
import { usualMetric } from "../../logic/host_lines";
import { GraphBar } from "./GraphBar";
import { HostGraph, type HostGraphProps } from "./HostGraph";
import { type GraphViewState, useGraphView } from "./useGraphView";
import { PointerStore } from "../../state/pointer";
import "./graph.css";

const NO_HOSTS: readonly HostInfo[] = [];

/** One or more metrics of several hosts, or of all hosts of a group or with a tag. */
export function GraphPage() {
  useDocumentTitle("Graph of several hosts · normstat");
  const hosts = useQuery(hostsQuery);
  const state = useGraphView(hosts.data?.hosts ?? NO_HOSTS);
  const { view } = state;
  const groups = useQuery(hostGroupsQuery);
  const names = view.runs.length > 0 ? [...new Set(view.runs.map(({ host }) => host))] : view.hosts;
  const group = view.runs.length > 0 ? null : view.group;
  const tag = view.runs.length > 0 ? null : view.tag;
  const isAsked = names.length > 0 || group !== null || tag !== null;
  const metrics = useQuery({ ...hostMetricsQuery({ hosts: names, group, tag }), enabled: isAsked });
  return (
    <div className="page graph-page">
      <IgnoredNote ignored={state.ignored} />
      <Title order={1} mb="xs">
        Several hosts
      </Title>
      <GraphBar
        state={state}
        hosts={hosts.data?.hosts.map(({ name }) => name) ?? []}
        groups={groups.data?.groups.map(({ name }) => name) ?? []}
        tags={tagsOf(hosts.data?.hosts ?? []).map(({ name }) => name)}
        metrics={metrics.data ?? null}
      />
      {!isAsked ? (
        <div className="card">
          <StateView
            state={
              hosts.isPending
                ? { kind: "loading", what: "the hosts" }
                : {
                    kind: "empty",
                    title: "No hosts chosen",
                    next: "Choose hosts, a host group or a tag above. Each metric of all of them is drawn in one graph.",
                  }
            }
          />
        </div>
      ) : metrics.data === undefined ? (
        <div className="card">
          <PendingView query={metrics} what="the metrics of these hosts" />
        </div>
      ) : (
        <ChosenGraph state={state} metrics={metrics.data} />
      )}
    </div>
  );
}

function ChosenGraph({ state, metrics }: { readonly state: GraphViewState; readonly metrics: HostMetrics }) {
  const { view } = state;
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const zone = useZone(view.clock);
  const [pointer] = useState(() => new PointerStore());
  const usual = usualMetric(metrics.metrics);
  const chosen = view.metrics.length > 0 ? view.metrics : usual === null ? [] : [usual];
  if (chosen.length === 0) {
    const areUnknown = metrics.unknown_hosts.length === metrics.hosts.length;
    return (
      <div className="card">
        <StateView
          state={{
            kind: "empty",
            title: areUnknown ? `There is no host ${metrics.unknown_hosts.join(", ")}` : "These hosts have no samples yet",
            next: areUnknown
              ? "It was deleted, renamed, or never sent data. Choose other hosts above."
              : "See the Streams tab of a host for what it sends.",
          }}
        />
      </div>
    );
  }
  return chosen.map((metric) => (
    <NearGraph
      key={metric}
      state={state}
      metric={metric}
      zone={zone}
      scheme={scheme}
      pointer={pointer}
      isAlone={chosen.length === 1}
    />
  ));
}

/** A graph that is fetched when it comes near, and stays. */
function NearGraph(props: HostGraphProps) {
  const ref = useRef<HTMLDivElement>(null);
  const isNear = useNear(ref);
  const [wasNear, setWasNear] = useState(props.isAlone);
  if (isNear && !wasNear) {
    setWasNear(true);
  }
  return (
    <div ref={ref} className={wasNear ? undefined : "graph-far"}>
      {wasNear && <HostGraph {...props} />}
    </div>
  );
}
