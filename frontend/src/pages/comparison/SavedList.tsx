import { api } from "../../api/client";
import { ActionIcon, Modal, Table } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { savedComparisonsQuery } from "../../api/comparison";
import { useDeletion } from "../../components/useDeletion";
import { PendingView, StateView } from "../../components/StateView";
import { Instant } from "../../components/Instant";
import { mayWrite, useMe } from "../../components/me";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";

interface SavedListProps {
  readonly zone: Zone;
  readonly onClose: () => void;
  readonly onOpen: (id: number) => void;
}

/** The saved comparisons. */
export function SavedList({ zone, onClose, onOpen }: SavedListProps) {
  const me = useMe();
  const saved = useQuery(savedComparisonsQuery);
  const deletion = useDeletion("comparison", [["saved"]]);
  const known = deletion.remaining(saved.data?.comparisons ?? [], ({ id }) => id);
  return (
    <Modal opened onClose={onClose} title="Saved comparisons" size="xl">
      {saved.data === undefined ? (
        <PendingView query={saved} what="comparisons" />
      ) : known.length === 0 ? (
        <StateView
          state={{
            kind: "empty",
            title: "No saved comparisons yet",
            next: "Save… on a comparison stores its result with your note.",
          }}
        />
      ) : (
        <Table aria-label="Saved comparisons">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>Note</Table.Th>
              <Table.Th>Saved by</Table.Th>
              <Table.Th>Saved</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {known.map((each) => (
              <Table.Tr key={each.id}>
                <Table.Td>
                  <button
                    type="button"
                    className="text-button"
                    onClick={() => {
                      onOpen(each.id);
                    }}
                  >
                    {each.name}
                  </button>
                </Table.Td>
                <Table.Td maw={340} style={{ whiteSpace: "pre-wrap" }}>
                  {each.note}
                </Table.Td>
                <Table.Td>{each.created_by}</Table.Td>
                <Table.Td>
                  <Instant at={fromApi(each.created_at)} zone={zone} />
                </Table.Td>
                <Table.Td>
                  {mayWrite(me) && (
                    <ActionIcon
                      aria-label={`Delete ${each.name}`}
                      onClick={() => {
                        deletion.remove(each.id, `Deleted the comparison “${each.name}”`, () =>
                          api.DELETE("/comparisons/{id}", { params: { path: { id: each.id } } }),
                        );
                      }}
                    >
                      <IconTrash size={15} />
                    </ActionIcon>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Modal>
  );
}
