import { Table, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { hostDeletionsQuery } from "../../api/queries";
import { Instant } from "../../components/Instant";
import { JobState } from "../../components/JobState";
import { ScrollCard } from "../../components/ScrollCard";
import { StateView } from "../../components/StateView";
import { formatCount } from "../../logic/number";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";

/** Deleted hosts, also those still being deleted; renders nothing if there are none. */
export function Deletions({ zone }: { readonly zone: Zone }) {
  const { data, error, refetch } = useQuery(hostDeletionsQuery);
  if (data === undefined || data.deletions.length === 0) {
    return error && data === undefined ? (
      <StateView isCompact state={{ kind: "error", error, onRetry: () => void refetch() }} />
    ) : null;
  }
  return (
    <section className="storage-section" aria-labelledby="storage-deletions">
      <Title order={2} id="storage-deletions">
        Deleted hosts
      </Title>
      <ScrollCard label="Deleted hosts">
        <Table aria-label="Deleted hosts">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Host</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th className="number">Samples removed</Table.Th>
              <Table.Th>Requested</Table.Th>
              <Table.Th>Requested by</Table.Th>
              <Table.Th>Finished</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.deletions.map((deletion) => (
              <Table.Tr key={`${deletion.host} ${deletion.requested_at}`}>
                <Table.Td fw={600}>{deletion.host}</Table.Td>
                <Table.Td>
                  <JobState state={deletion.state} />
                </Table.Td>
                <Table.Td className="number">{formatCount(deletion.n_samples)}</Table.Td>
                <Table.Td>
                  <Instant at={fromApi(deletion.requested_at)} zone={zone} />
                </Table.Td>
                <Table.Td>{deletion.requested_by}</Table.Td>
                <Table.Td>
                  {deletion.finished_at === null ? (
                    <span className="soft">not yet</span>
                  ) : (
                    <Instant at={fromApi(deletion.finished_at)} zone={zone} />
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollCard>
    </section>
  );
}
