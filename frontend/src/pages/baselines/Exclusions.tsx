import { api } from "../../api/client";
import { ActionIcon, Button, Group, Table, Text, Tooltip } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { EXCLUSION_KEYS, exclusionsQuery } from "../../api/baselines";
import { ExcludeDialog } from "../../components/ExcludeDialog";
import { Instant } from "../../components/Instant";
import { mayWrite, useMe } from "../../components/me";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { useDeletion } from "../../components/useDeletion";
import { toWindow } from "../../logic/comparison";
import { resolveRange } from "../../logic/range";
import { fromApi, HOUR, wholeSecond } from "../../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../../logic/zone";
import { readNow } from "../../state/clock";

/** Periods that all baselines ignore. */
export function Exclusions({ zone }: { readonly zone: Zone }) {
  const me = useMe();
  const [isAdding, setAdding] = useState(false);
  const [initial] = useState(() => resolveRange({ kind: "live", length: HOUR }, wholeSecond(readNow()), zone));
  const exclusions = useQuery(exclusionsQuery);
  const deletion = useDeletion("exclusion", EXCLUSION_KEYS);
  const known = deletion.remaining(exclusions.data?.exclusions ?? [], ({ id }) => id);
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
      <ScrollCard label="Excluded periods">
        {exclusions.data === undefined ? (
          <PendingView query={exclusions} what="excluded periods" />
        ) : known.length === 0 ? (
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
                <Table.Th>{`Window (${zoneLabel(zone, readNow())})`}</Table.Th>
                <Table.Th>Host</Table.Th>
                <Table.Th>Note</Table.Th>
                <Table.Th>Excluded by</Table.Th>
                <Table.Th>Excluded</Table.Th>
                <Table.Th />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {known.map((exclusion) => (
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
                          onClick={() => {
                            deletion.remove(exclusion.id, `Baselines include “${exclusion.name}” again`, () =>
                              api.DELETE("/exclusions/{id}", { params: { path: { id: exclusion.id } } }),
                            );
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
