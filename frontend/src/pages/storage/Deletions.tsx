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
import { words } from "../../words";

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
        {words.storage.deletions.deletedHosts}
      </Title>
      <ScrollCard label={words.storage.deletions.deletedHosts}>
        <Table aria-label={words.storage.deletions.deletedHosts}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.common.host}</Table.Th>
              <Table.Th>{words.common.state}</Table.Th>
              <Table.Th className="number">{words.storage.deletions.samplesRemoved}</Table.Th>
              <Table.Th>{words.storage.deletions.requested}</Table.Th>
              <Table.Th>{words.storage.deletions.requestedBy}</Table.Th>
              <Table.Th>{words.storage.deletions.finished}</Table.Th>
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
                    <span className="soft">{words.storage.deletions.notYet}</span>
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
