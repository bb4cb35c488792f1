import { ActionIcon, Button, Group, Table, Text, Tooltip } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { deleteExclusion, EXCLUSION_KEYS, exclusionsQuery } from "../../api/baselines";
import { ExcludeDialog } from "../../components/ExcludeDialog";
import { Instant } from "../../components/Instant";
import { mayWrite, useMe } from "../../components/me";
import { ScrollCard } from "../../components/ScrollCard";
import { ErrorLine, StateView } from "../../components/StateView";
import { toWindow } from "../../logic/comparison";
import { resolveRange } from "../../logic/range";
import { fromApi, HOUR, wholeSecond } from "../../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../../logic/zone";
import { readNow } from "../../state/clock";

/** Periods that all baselines ignore. */
export function Exclusions({ zone }: { readonly zone: Zone }) {
  const me = useMe();
  const client = useQueryClient();
  const [isAdding, setAdding] = useState(false);
  const [initial] = useState(() => resolveRange({ kind: "live", length: HOUR }, wholeSecond(readNow())));
  const exclusions = useQuery(exclusionsQuery);
  const deleting = useMutation({
    mutationFn: deleteExclusion,
    onSuccess: () => Promise.all(EXCLUSION_KEYS.map((queryKey) => client.invalidateQueries({ queryKey }))),
  });
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Text fz="sm" className="soft">
          Baselines ignore these periods.
        </Text>
        {mayWrite(me) && (
          <Button
            variant="default"
            onClick={() => {
              setAdding(true);
            }}
          >
            Exclude a period…
          </Button>
        )}
      </Group>
      <ErrorLine error={deleting.error} />
      <ScrollCard label="Excluded periods">
        {exclusions.data === undefined ? (
          <StateView
            state={
              exclusions.error
                ? { kind: "error", error: exclusions.error, onRetry: () => void exclusions.refetch() }
                : { kind: "loading", what: "excluded periods" }
            }
          />
        ) : exclusions.data.exclusions.length === 0 ? (
          <StateView
            state={{
              kind: "empty",
              title: "No excluded periods",
              next: "Select a time range on a host's graph and choose Exclude from baselines.",
            }}
          />
        ) : (
          <Table aria-label="Excluded periods">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th>Window ({zoneLabel(zone, readNow())})</Table.Th>
                <Table.Th>Host</Table.Th>
                <Table.Th>Note</Table.Th>
                <Table.Th>Excluded by</Table.Th>
                <Table.Th>Excluded</Table.Th>
                <Table.Th />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {exclusions.data.exclusions.map((exclusion) => (
                <Table.Tr key={exclusion.id}>
                  <Table.Td fw={600}>{exclusion.name}</Table.Td>
                  <Table.Td>{formatWindow(zone, toWindow(exclusion))}</Table.Td>
                  <Table.Td>{exclusion.host ?? "all"}</Table.Td>
                  <Table.Td maw={420} style={{ whiteSpace: "pre-wrap" }}>
                    {exclusion.note}
                  </Table.Td>
                  <Table.Td>{exclusion.created_by}</Table.Td>
                  <Table.Td>
                    <Instant at={fromApi(exclusion.created_at)} zone={zone} />
                  </Table.Td>
                  <Table.Td>
                    {mayWrite(me) && (
                      <Tooltip label="Include it in baselines again">
                        <ActionIcon
                          aria-label={`Include ${exclusion.name} again`}
                          loading={deleting.isPending && deleting.variables === exclusion.id}
                          onClick={() => {
                            deleting.mutate(exclusion.id);
                          }}
                        >
                          <IconTrash size={15} />
                        </ActionIcon>
                      </Tooltip>
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </ScrollCard>
      {isAdding && (
        <ExcludeDialog
          host={null}
          window={initial}
          zone={zone}
          onClose={() => {
            setAdding(false);
          }}
        />
      )}
    </>
  );
}
