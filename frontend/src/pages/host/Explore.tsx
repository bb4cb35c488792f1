import { ActionIcon, Button, Group, Text, Tooltip } from "@mantine/core";
import { useCallbackRef } from "@mantine/hooks";
import { IconPlus, IconSearch, IconX } from "@tabler/icons-react";
import { useMemo } from "react";
import { StateView } from "../../components/StateView";
import type { StatInfo } from "../../logic/api";
import { type ExploredMetric, type ExploredPlan, formatExplored, planExplored } from "../../logic/explore";
import { choiceKey, type CustomPanel, type InstanceChoice, type PanelPlan } from "../../logic/panel";
import { openPalette } from "../../state/palette";
import type { GraphContext } from "./graph";
import { Panel } from "./Panel";
import "./Explore.css";

interface ExploreProps {
  readonly metrics: readonly ExploredMetric[];
  /** The stats that this host sends. */
  readonly stats: readonly StatInfo[];
  readonly graph: GraphContext;
  readonly onChange: (metrics: readonly ExploredMetric[]) => void;
  /** Makes a panel of a metric, which leaves the explored ones `rest`. */
  readonly onAdd: (panel: CustomPanel, rest: readonly ExploredMetric[]) => void;
}

/** Draws the metrics of the link above all panels, without making panels of them. */
export function Explore({ metrics, stats, graph, onChange, onAdd }: ExploreProps) {
  const planned = useMemo(() => planExplored(metrics, stats), [metrics, stats]);
  // Panels are memoised: their callbacks stay the same.
  const choose = useCallbackRef((plan: PanelPlan, choice: InstanceChoice) => {
    onChange(
      metrics.map((metric, index) =>
        choiceKey(plan).split(".")[0] === `explore-${String(index)}` ? { ...metric, choice } : metric,
      ),
    );
  });
  const nothing = useCallbackRef(() => undefined);
  const without = (each: ExploredPlan): readonly ExploredMetric[] => metrics.filter((_, index) => index !== each.index);
  if (metrics.length === 0) {
    return null;
  }
  return (
    <section className="host-section" aria-label="Explore">
      <Group gap="xs" className="explore-head">
        <h2>Explore</h2>
        <Tooltip label="Draw another metric (e)">
          <Button
            size="compact-xs"
            variant="default"
            leftSection={<IconSearch size={13} />}
            onClick={() => {
              openPalette("metrics");
            }}
          >
            Another metric
          </Button>
        </Tooltip>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => {
            onChange([]);
          }}
        >
          Close
        </Button>
      </Group>
      {planned.map((each) => (
        <Explored
          key={formatExplored({ ...each.metric, choice: null })}
          each={each}
          graph={graph}
          onChoose={choose}
          onNothing={nothing}
          onAdd={(panel) => {
            onAdd(panel, without(each));
          }}
          onClose={() => {
            onChange(without(each));
          }}
        />
      ))}
    </section>
  );
}

interface ExploredProps {
  readonly each: ExploredPlan;
  readonly graph: GraphContext;
  readonly onChoose: (plan: PanelPlan, choice: InstanceChoice) => void;
  readonly onNothing: () => void;
  readonly onAdd: (panel: CustomPanel) => void;
  readonly onClose: () => void;
}

function Explored({ each, graph, onChoose, onNothing, onAdd, onClose }: ExploredProps) {
  const { stat, plans, panel } = each;
  const [only] = plans.length === 1 && plans[0]?.fields.length === 1 ? plans[0].fields : [];
  return (
    <div className="explored">
      <Group gap="xs" wrap="nowrap" align="baseline">
        <Text fz="sm" className="explored-help">
          {stat === null ? formatExplored(each.metric) : only === undefined ? `${stat.title} (${stat.name})` : only.help}
        </Text>
        {panel !== null && (
          <Button
            size="compact-xs"
            variant="default"
            leftSection={<IconPlus size={13} />}
            style={{ flex: "none" }}
            onClick={() => {
              onAdd(panel);
            }}
          >
            Add as panel
          </Button>
        )}
        <ActionIcon size="sm" aria-label={`Close ${plans[0]?.title ?? formatExplored(each.metric)}`} onClick={onClose}>
          <IconX size={15} />
        </ActionIcon>
      </Group>
      {stat === null ? (
        <div className="card">
          <StateView
            isCompact
            state={{
              kind: "empty",
              title: `${graph.host} has no samples of ${formatExplored({ ...each.metric, choice: null })}`,
              next: "Choose another metric, or search for it: other hosts may send it.",
            }}
          />
        </div>
      ) : (
        <div className="explored-panels">
          {plans.map((plan) => (
            <Panel key={plan.id} plan={plan} graph={graph} onChoose={onChoose} onRemove={onNothing} />
          ))}
        </div>
      )}
    </div>
  );
}
