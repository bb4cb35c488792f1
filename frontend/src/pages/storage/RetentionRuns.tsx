import { Button, Group, Table, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { runRetention } from "../../api/endpoints";
import { retentionQuery } from "../../api/queries";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { Instant } from "../../components/Instant";
import { JobState } from "../../components/JobState";
import { ScrollCard } from "../../components/ScrollCard";
import type { RetentionRun } from "../../logic/api";
import { describeRun, isAnyRunning } from "../../logic/storage";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { words } from "../../words";

const MAX_RUNS = 5;

interface RetentionRunsProps {
  readonly runs: readonly RetentionRun[];
  readonly zone: Zone;
  readonly mayRun: boolean;
}

/** The latest retention runs; administrators can start one. */
export function RetentionRuns({ runs, zone, mayRun }: RetentionRunsProps) {
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const running = useMutation({
    mutationFn: runRetention,
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: retentionQuery.queryKey });
      setAsking(false);
    },
  });
  if (!mayRun && runs.length === 0) {
    return null;
  }
  return (
    <>
      <Group gap="sm">
        {mayRun && (
          <Button
            variant="default"
            size="compact-sm"
            disabled={isAnyRunning({ runs: [...runs] })}
            onClick={() => {
              setAsking(true);
            }}
          >
            {words.storage.retentionRuns.applyRulesNow}
          </Button>
        )}
        {runs.length === 0 && (
          <Text fz="sm" className="soft">
            {words.storage.retentionRuns.rulesHaveNotBeen}
          </Text>
        )}
      </Group>
      {runs.length > 0 && (
        <ScrollCard label={words.storage.retentionRuns.retentionRuns}>
          <Table aria-label={words.storage.retentionRuns.retentionRuns}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{words.storage.retentionRuns.applied}</Table.Th>
                <Table.Th>{words.common.by}</Table.Th>
                <Table.Th>{words.common.state}</Table.Th>
                <Table.Th>{words.storage.retentionRuns.result}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {runs.slice(0, MAX_RUNS).map((run) => (
                <Table.Tr key={run.id}>
                  <Table.Td>
                    <Instant at={fromApi(run.created_at)} zone={zone} />
                  </Table.Td>
                  <Table.Td>{run.created_by}</Table.Td>
                  <Table.Td>
                    <JobState state={run.state} />
                  </Table.Td>
                  <Table.Td>{describeRun(run)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollCard>
      )}
      {isAsking && (
        <ConfirmDialog
          title={words.storage.retentionRuns.applyRulesNow2}
          action={words.storage.retentionRuns.deleteOldData}
          isPending={running.isPending}
          error={running.error}
          onClose={() => {
            setAsking(false);
          }}
          onConfirm={() => {
            running.mutate();
          }}
        >
          {words.storage.retentionRuns.dataRulesWouldDelete}
        </ConfirmDialog>
      )}
    </>
  );
}
