import { Menu } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { graphMetric, type PanelPlan } from "../../logic/panel";
import type { Window } from "../../logic/time";
import { DEFAULT_GRAPH_VIEW, encodeGraphView } from "../../state/graph";
import { clockOf } from "../../state/zone_choice";

/** Leads from a panel to the graph of several hosts, with the panel's metric and window. */
export function SeveralHosts({
  plan,
  host,
  window,
}: {
  readonly plan: PanelPlan;
  readonly host: string;
  readonly window: Window;
}) {
  const navigate = useNavigate();
  const clock = clockOf(useSearch({ strict: false }));
  const { metric, instance } = graphMetric(plan);
  return (
    <Menu.Item
      onClick={() => {
        const range = { kind: "fixed", window } as const;
        void navigate({
          to: "/graph",
          search: encodeGraphView({ ...DEFAULT_GRAPH_VIEW, clock, hosts: [host], metrics: [metric], instance, range }),
        });
      }}
    >
      Several hosts…
    </Menu.Item>
  );
}
