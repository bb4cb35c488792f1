import { api } from "../../api/client";
import { Button, Group, MultiSelect, Paper, Progress, Stack, Table, Text, Title } from "@mantine/core";
import { isNotEmpty } from "@mantine/form";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { hostsQuery } from "../../api/queries";
import { backtestQuery, backtestsQuery } from "../../api/watch";
import { Instant } from "../../components/Instant";
import { JobState } from "../../components/JobState";
import { mayWrite, useMe } from "../../components/me";
import { ErrorLine } from "../../components/StateView";
import { WindowInputs } from "../../components/WindowInputs";
import type { Backtest } from "../../logic/api";
import { isActive, percentDone } from "../../logic/job";
import { formatCount } from "../../logic/number";
import { DAY, fromApi, toEpochMs, toIso, type Window } from "../../logic/time";
import { countFound, wholeSeconds } from "../../logic/watch";
import { formatWindow, type Zone } from "../../logic/zone";
import { readNow } from "../../state/clock";
import { RowForm } from "../../components/RowForm";
import { nullable, useServerForm } from "../../components/useServerForm";
import { counted } from "../../logic/counted";
import { BacktestResults } from "./BacktestResults";

interface BacktestPanelProps {
  readonly toml: string;
  readonly rule: string;
  readonly zone: Zone;
}

/** Tries a rule's text on the past of some hosts, and shows what it would have found. */
export function BacktestPanel({ toml, rule, zone }: BacktestPanelProps) {
  const me = useMe();
  const hosts = useQuery(hostsQuery);
  const earlier = useQuery(backtestsQuery(rule));
  const [opened, setOpened] = useState<number | null>(null);
  const [first] = useState(() => lastWeek());
  const latest = earlier.data?.backtests[0]?.id ?? null;
  const { form, submission } = useServerForm({
    initialValues: { hosts: [] as string[], window: nullable(first) },
    validate: { hosts: isNotEmpty("Choose at least one host"), window: isNotEmpty() },
    send: ({ hosts, window }) => {
      const { start, end } = window ?? first;
      return api.POST("/backtests", { body: { toml, hosts, start: toIso(start), end: toIso(end) } });
    },
    renews: [["watch", "backtests", rule]],
    onSaved: ({ id }) => {
      setOpened(id);
    },
  });
  return (
    <Paper className="card" p="md">
      <Title order={2} fz="md" mb={4}>
        Try it on the past
      </Title>
      <Text fz="sm" className="soft" mb="sm">
        The rule is evaluated on the samples of these hosts. Only the result is stored, and no alerts are sent.
      </Text>
      {mayWrite(me) && (
        <RowForm {...submission} action="Try">
          <MultiSelect
            size="xs"
            w={300}
            label="Hosts"
            searchable
            data={(hosts.data?.hosts ?? []).map(({ name }) => name)}
            {...form.getInputProps("hosts")}
          />
          <div style={{ flex: 1, minWidth: 320 }}>
            <WindowInputs window={first} zone={zone} {...form.getInputProps("window")} />
          </div>
        </RowForm>
      )}
      {(opened ?? latest) !== null && <OneBacktest id={opened ?? latest ?? 0} zone={zone} />}
      {earlier.data !== undefined && earlier.data.backtests.length > 1 && (
        <EarlierBacktests backtests={earlier.data.backtests} zone={zone} onOpen={setOpened} />
      )}
    </Paper>
  );
}

function lastWeek(): Window {
  const now = readNow();
  return wholeSeconds({ start: toEpochMs(now - 7 * DAY), end: now });
}

function OneBacktest({ id, zone }: { readonly id: number; readonly zone: Zone }) {
  const client = useQueryClient();
  const backtest = useQuery(backtestQuery(id));
  const stopping = useMutation({
    mutationFn: (id: number) => api.POST("/jobs/{id}/stop", { params: { path: { id } } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["watch"] }),
  });
  // A rule that has been tried can be enabled.
  const isDone = backtest.data?.state === "done";
  useEffect(() => {
    if (isDone) {
      void client.invalidateQueries({ queryKey: ["watch", "rule"] });
      void client.invalidateQueries({ queryKey: ["watch", "backtests"] });
    }
  }, [isDone, client]);
  if (backtest.data === undefined) {
    return <ErrorLine error={backtest.error} />;
  }
  const { state, n_done, n_total, message, results, job_id } = backtest.data;
  const percent = percentDone({ n_done, n_total, unit: "" });
  return (
    <Stack gap="xs" mt="md">
      <Group gap="sm">
        <JobState state={state} />
        <Text fz="sm">
          {backtest.data.hosts.join(", ")},{" "}
          {formatWindow(zone, wholeSeconds({ start: fromApi(backtest.data.start), end: fromApi(backtest.data.end) }))}
        </Text>
        {isActive(backtest.data) && (
          <Button
            size="compact-sm"
            variant="default"
            loading={stopping.isPending}
            onClick={() => {
              stopping.mutate(job_id);
            }}
          >
            Stop
          </Button>
        )}
      </Group>
      {isActive(backtest.data) && percent !== null && (
        <>
          <Progress value={percent} aria-label="Progress of the backtest" />
          <Text fz="sm" className="soft">
            {`${formatCount(n_done)} of ${formatCount(n_total)} hours of samples`}
          </Text>
        </>
      )}
      {state === "stopped" && <Text fz="sm">Stopped before it was done.</Text>}
      {state === "failed" && (
        <Text fz="sm" c="var(--bad)">
          {message}
        </Text>
      )}
      {results !== null && <BacktestResults backtest={backtest.data} results={results} zone={zone} />}
      <ErrorLine error={stopping.error} />
    </Stack>
  );
}

interface EarlierProps {
  readonly backtests: readonly Backtest[];
  readonly zone: Zone;
  readonly onOpen: (id: number) => void;
}

function EarlierBacktests({ backtests, zone, onOpen }: EarlierProps) {
  return (
    <>
      <Title order={3} fz="sm" mt="md" mb={4}>
        Earlier backtests
      </Title>
      <Table aria-label="Earlier backtests">
        <Table.Tbody>
          {backtests.map((backtest) => (
            <Table.Tr key={backtest.id}>
              <Table.Td>
                <button
                  type="button"
                  className="text-button"
                  onClick={() => {
                    onOpen(backtest.id);
                  }}
                >
                  <Instant at={fromApi(backtest.asked_at)} zone={zone} />
                </button>
              </Table.Td>
              <Table.Td>{backtest.hosts.join(", ")}</Table.Td>
              <Table.Td>{backtest.is_present_text ? "of this text" : "of another text"}</Table.Td>
              <Table.Td>
                <JobState state={backtest.state} />
              </Table.Td>
              <Table.Td>{backtest.results !== null && counted(countFound(backtest.results), "episode")}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </>
  );
}
