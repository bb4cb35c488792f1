import { api } from "../../api/client";
import { ActionIcon, Modal, Table } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { isNotEmpty } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { comparisonParams, saveComparison, savedComparisonsQuery } from "../../api/comparison";
import { NameField, NoteField } from "../../components/NameAndNote";
import { useDeletion } from "../../components/useDeletion";
import { useServerForm } from "../../components/useServerForm";
import { FormDialog } from "../../components/FormDialog";
import { PendingView, StateView } from "../../components/StateView";
import { Instant } from "../../components/Instant";
import { mayWrite, useMe } from "../../components/me";
import type { SavedComparisonInfo } from "../../logic/api";
import type { ComparisonInputs } from "../../logic/against";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";

interface SaveDialogProps {
  /** The inputs of a comparison to save, or a saved one to rename. */
  readonly of: ComparisonInputs | SavedComparisonInfo;
  readonly suggested: string;
  readonly onClose: () => void;
  readonly onDone: (kept: SavedComparisonInfo) => void;
}

/** Saves a comparison with its result, a name and a note; it stays readable after samples and baselines are deleted. */
export function SaveDialog({ of, suggested, onClose, onDone }: SaveDialogProps) {
  const isSaved = "id" in of;
  const { form, submission } = useServerForm({
    initialValues: { name: isSaved ? of.name : suggested, note: isSaved ? of.note : "" },
    validate: { name: isNotEmpty("Enter a name") },
    send: (body) =>
      isSaved
        ? api.PATCH("/comparisons/{id}", { body, params: { path: { id: of.id } } })
        : saveComparison({ ...body, inputs: comparisonParams(of) }),
    renews: [["saved"]],
    onSaved: (saved) => {
      onDone(saved);
    },
  });
  return (
    <FormDialog {...submission} title={isSaved ? "Name and note" : "Save this comparison"} onClose={onClose}>
      <NameField {...form.getInputProps("name")} />
      <NoteField
        placeholder="What it was, and what was done about it; printed in the report"
        minRows={4}
        maxRows={14}
        {...form.getInputProps("note")}
      />
    </FormDialog>
  );
}

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
