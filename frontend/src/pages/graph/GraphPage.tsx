import { Title, useComputedColorScheme } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { hostMetricsQuery } from "../../api/host_lines";
import { hostGroupsQuery } from "../../api/baselines";
import { hostsQuery } from "../../api/queries";
import { IgnoredNote } from "../../components/IgnoredNote";
import { PendingView, StateView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import type { HostInfo, HostMetrics } from "../../logic/api";
import { tagsOf } from "../../logic/fleet";
import { usualMetric } from "../../logic/host_lines";
import { GraphBar } from "./GraphBar";
import { HostGraph } from "./HostGraph";
import { type GraphViewState, useGraphView } from "./useGraphView";
import "./graph.css";

const NO_HOSTS: readonly HostInfo[] = [];

/** One metric of several hosts, or of all hosts of a group or with a tag. */
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
                    next: "Choose hosts, a host group or a tag above. One metric of all of them is drawn in one graph.",
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
  const metric = view.metric ?? usualMetric(metrics.metrics);
  if (metric === null) {
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
  return <HostGraph state={state} metric={metric} zone={zone} scheme={scheme} />;
}
