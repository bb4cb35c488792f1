import { Paper, Select, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { hostsQuery } from "../../api/queries";
import { CompareForm } from "../../components/CompareForm";
import { StateView } from "../../components/StateView";
import { WindowInputs } from "../../components/WindowInputs";
import { resolveRange } from "../../logic/range";
import { MINUTE, toDurationMs, wholeSecond, type Window } from "../../logic/time";
import { readNow, zoneOf } from "../../state/clock";
import type { ComparisonView } from "../../state/url";

interface ChooseComparisonProps {
  readonly view: ComparisonView;
  readonly onChange: (change: Partial<ComparisonView>, isNew: boolean) => void;
}

/** Host, incident and baseline, for those who did not come from a graph. */
export function ChooseComparison({ view, onChange }: ChooseComparisonProps) {
  const hosts = useQuery(hostsQuery);
  const zone = zoneOf(view.clock);
  const [initial] = useState(
    () => view.incident ?? resolveRange({ kind: "live", length: toDurationMs(10 * MINUTE) }, wholeSecond(readNow())),
  );
  const [incident, setIncident] = useState<Window | null>(initial);
  const [host, setHost] = useState(view.host);
  const names = hosts.data?.hosts.map(({ name }) => name) ?? [];
  const chosen = host ?? names[0] ?? null;
  if (hosts.data === undefined) {
    return (
      <StateView
        state={
          hosts.error
            ? { kind: "error", error: hosts.error, onRetry: () => void hosts.refetch() }
            : { kind: "loading", what: "hosts" }
        }
      />
    );
  }
  return (
    <Paper className="card" p="lg" maw={720} mx="auto" mt="lg">
      <Title order={1} mb={4}>
        Compare an incident with what is normal
      </Title>
      <Text fz="sm" className="soft" mb="md">
        Every series of the host in the one window against the other; what moved most, for what it usually does, comes first.
        Easier from a graph: Shift-drag over the trouble, then <i>Compare with baseline</i>.
      </Text>
      {names.length === 0 ? (
        <StateView state={{ kind: "empty", title: "There is no host yet", next: "Add one on the Hosts page." }} />
      ) : (
        <Stack gap="sm">
          <Select
            label="Host"
            searchable
            allowDeselect={false}
            data={names}
            value={chosen}
            onChange={(value) => {
              setHost(value);
            }}
          />
          <div>
            <Text fz="sm" fw={500} mb={2}>
              Incident
            </Text>
            <WindowInputs window={initial} zone={zone} onChange={setIncident} />
          </div>
          {chosen !== null && incident !== null && (
            <CompareForm
              key={chosen}
              host={chosen}
              incident={incident}
              zone={zone}
              onCompare={(baseline) => {
                onChange({ host: chosen, incident, baseline }, true);
              }}
            />
          )}
        </Stack>
      )}
    </Paper>
  );
}
