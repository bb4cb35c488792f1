import { Paper, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { hostsQuery } from "../../api/queries";
import { ComparisonForm } from "../../components/ComparisonForm";
import { PendingView, StateView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import type { ComparisonInputs } from "../../logic/against";
import { resolveRange } from "../../logic/range";
import { MINUTE, toDurationMs, wholeSecond } from "../../logic/time";
import { readNow } from "../../state/clock";
import type { ComparisonView } from "../../state/comparison";
import { nodes } from "../../components/nodes";

interface ChooseComparisonProps {
  readonly view: ComparisonView;
  readonly onCompare: (inputs: ComparisonInputs) => void;
}

/** The form for host, incident and baseline. */
export function ChooseComparison({ view, onCompare }: ChooseComparisonProps) {
  const hosts = useQuery(hostsQuery);
  const zone = useZone(view.clock);
  const [incident] = useState(
    () => view.incident ?? resolveRange({ kind: "live", length: toDurationMs(10 * MINUTE) }, wholeSecond(readNow()), zone),
  );
  if (hosts.data === undefined) {
    return <PendingView query={hosts} what="hosts" />;
  }
  const [first] = hosts.data.hosts;
  return (
    <Paper className="card" p="lg" maw={760} mx="auto" mt="lg">
      <Title order={1} mb={4}>
        Compare an incident with a baseline
      </Title>
      <Text fz="sm" className="soft" mb="md">
        {nodes`All series of the host, ranked by how far each moved relative to its usual variation. From a graph: Shift-drag over the problem, then ${<i>Open</i>}.`}
      </Text>
      {first === undefined ? (
        <StateView state={{ kind: "empty", title: "No hosts yet", next: "Add one on the Hosts page." }} />
      ) : (
        <ComparisonForm
          hosts={view.hosts.length === 0 ? [first.name] : view.hosts}
          incident={incident}
          against={view.against}
          divisor={view.divisor}
          zone={zone}
          onCompare={onCompare}
        />
      )}
    </Paper>
  );
}
