import { Button, Group, Text } from "@mantine/core";
import { PageButton } from "../../components/PageLink";
import type { ExperimentRun } from "../../logic/api";
import { longerOf, startOfRun, windowOfRun } from "../../logic/experiment";
import { DEFAULT_COMPARISON_VIEW, encodeComparisonView } from "../../state/comparison";
import type { ExperimentView } from "../../state/experiment";
import { DEFAULT_GRAPH_VIEW, encodeGraphView } from "../../state/graph";

interface CompareRunsProps {
  readonly runs: readonly ExperimentRun[];
  readonly view: ExperimentView;
  readonly onView: (change: Partial<ExperimentView>) => void;
}

/** Two chosen runs: what is different between their windows, their series over each other, the diff of their artefacts. */
export function CompareRuns({ runs, view, onView }: CompareRunsProps) {
  const [first, second] = view.runs.map((id) => runs.find((run) => run.id === id)).filter((run) => run !== undefined);
  return (
    <section className="card experiment-card" aria-label="Compare two runs">
      <h2>Compare two runs</h2>
      {first === undefined ? (
        <Text fz="sm" className="soft">
          Choose two runs in the table: the first is the baseline.
        </Text>
      ) : second === undefined ? (
        <Text fz="sm">{`Run ${String(first.id)} is the baseline; choose a second run`}</Text>
      ) : (
        <ChosenRuns first={first} second={second} view={view} onView={onView} />
      )}
    </section>
  );
}

interface ChosenRunsProps {
  readonly first: ExperimentRun;
  readonly second: ExperimentRun;
  readonly view: ExperimentView;
  readonly onView: (change: Partial<ExperimentView>) => void;
}

function ChosenRuns({ first, second, view, onView }: ChosenRunsProps) {
  const baseline = windowOfRun(first);
  const incident = windowOfRun(second);
  const isOneHost = first.host === second.host;
  const length = longerOf(first, second);
  const [before] = first.artefacts;
  const [after] = second.artefacts;
  const problem = !isOneHost
    ? "The runs are of different hosts: their windows cannot be compared directly"
    : baseline === null || incident === null
      ? "The run has no end, so it has no window"
      : null;
  return (
    <Group gap="xs">
      <Text fz="sm">{`Run ${String(first.id)} (baseline) and run ${String(second.id)}`}</Text>
      {problem === null && baseline !== null && (
        <PageButton
          size="xs"
          to="/comparison"
          search={encodeComparisonView({
            ...DEFAULT_COMPARISON_VIEW,
            clock: view.clock,
            hosts: [second.host],
            incident,
            against: { kind: "window", window: baseline },
          })}
        >
          What is different
        </PageButton>
      )}
      {length !== null && (
        <PageButton
          size="xs"
          variant="default"
          to="/graph"
          search={encodeGraphView({
            ...DEFAULT_GRAPH_VIEW,
            clock: view.clock,
            runs: [first, second].map((run) => ({ host: run.host, start: startOfRun(run) })),
            length,
          })}
        >
          Overlaid
        </PageButton>
      )}
      {before !== undefined && after !== undefined && (
        <Button
          size="xs"
          variant="default"
          component="a"
          href={`/artefacts/diff?before=${String(before)}&after=${String(after)}`}
        >
          Diff of artefacts
        </Button>
      )}
      <Button
        size="xs"
        variant="subtle"
        onClick={() => {
          onView({ runs: [second.id, first.id] });
        }}
      >
        Swap
      </Button>
      <Button
        size="xs"
        variant="subtle"
        onClick={() => {
          onView({ runs: [] });
        }}
      >
        Clear
      </Button>
      {problem !== null && (
        <Text fz="sm" className="soft">
          {problem}
        </Text>
      )}
    </Group>
  );
}
