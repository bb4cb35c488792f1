import { api } from "../../api/client";
import { Button, Group, Table, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { retentionQuery } from "../../api/queries";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { Instant } from "../../components/Instant";
import { JobState } from "../../components/JobState";
import { ScrollCard } from "../../components/ScrollCard";
import type { RetentionRun } from "../../logic/api";
import { describeRun, isAnyRunning } from "../../logic/storage";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";

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
    mutationFn: () => api.POST("/retention/runs"),
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
            Apply rules now…
          </Button>
        )}
        {runs.length === 0 && (
          <Text fz="sm" className="soft">
            The rules have not been applied yet. They run every night.
          </Text>
        )}
      </Group>
      {runs.length > 0 && (
        <ScrollCard label="Retention runs">
          <Table aria-label="Retention runs">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Applied</Table.Th>
                <Table.Th>By</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th>Result</Table.Th>
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
          title="Apply rules now"
          action="Delete old data"
          isPending={running.isPending}
          error={running.error}
          onClose={() => {
            setAsking(false);
          }}
          onConfirm={() => {
            running.mutate();
          }}
        >
          The data that the rules would delete tonight is deleted now, in the background. It can only be restored from a backup.
        </ConfirmDialog>
      )}
    </>
  );
}
