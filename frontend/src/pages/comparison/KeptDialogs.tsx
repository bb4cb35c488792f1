import { ActionIcon, Button, Group as Row, Modal, Stack, Table } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { comparisonParams, deleteKept, keepComparison, keptListQuery, updateKept } from "../../api/comparison";
import { NameField, NoteField } from "../../components/NameAndNote";
import { ErrorLine, StateView } from "../../components/StateView";
import { Instant } from "../../components/Instant";
import { mayWrite, useMe } from "../../components/me";
import type { KeptInfo } from "../../logic/api";
import type { ComparisonInputs } from "../../logic/against";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";

interface KeepDialogProps {
  /** What is kept: the inputs of a new one, or one that exists and gets another name or note. */
  readonly of: ComparisonInputs | KeptInfo;
  readonly suggested: string;
  readonly onClose: () => void;
  readonly onDone: (kept: KeptInfo) => void;
}

/** Keeps a comparison with its answer, a name and a note: it can be read when samples and baselines are long gone. */
export function KeepDialog({ of, suggested, onClose, onDone }: KeepDialogProps) {
  const client = useQueryClient();
  const isKept = "id" in of;
  const [name, setName] = useState(isKept ? of.name : suggested);
  const [note, setNote] = useState(isKept ? of.note : "");
  const saving = useMutation({
    mutationFn: () => (isKept ? updateKept(of.id, { name, note }) : keepComparison({ name, note, inputs: comparisonParams(of) })),
    onSuccess: async (kept) => {
      await client.invalidateQueries({ queryKey: ["kept"] });
      onDone(kept);
    },
  });
  return (
    <Modal opened onClose={onClose} title={isKept ? "Name and note" : "Keep this comparison"}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          saving.mutate();
        }}
      >
        <Stack gap="sm">
          <NameField value={name} onChange={setName} />
          <NoteField
            placeholder="What it was, and what was done about it; it stands in the report too"
            minRows={4}
            maxRows={14}
            value={note}
            onChange={setNote}
          />
          <ErrorLine error={saving.error} />
          <Row justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={saving.isPending} disabled={name.trim() === ""}>
              {isKept ? "Save" : "Keep"}
            </Button>
          </Row>
        </Stack>
      </form>
    </Modal>
  );
}

interface KeptListProps {
  readonly zone: Zone;
  readonly onClose: () => void;
  readonly onOpen: (id: number) => void;
}

/** The comparisons that were kept. */
export function KeptList({ zone, onClose, onOpen }: KeptListProps) {
  const me = useMe();
  const client = useQueryClient();
  const kept = useQuery(keptListQuery);
  const deleting = useMutation({ mutationFn: deleteKept, onSuccess: () => client.invalidateQueries({ queryKey: ["kept"] }) });
  return (
    <Modal opened onClose={onClose} title="Comparisons that were kept" size="xl">
      <ErrorLine error={deleting.error} />
      {kept.data === undefined ? (
        <StateView
          state={
            kept.error
              ? { kind: "error", error: kept.error, onRetry: () => void kept.refetch() }
              : { kind: "loading", what: "comparisons" }
          }
        />
      ) : kept.data.comparisons.length === 0 ? (
        <StateView
          state={{
            kind: "empty",
            title: "None is kept yet",
            next: "Keep… at a comparison keeps it with its answer and your note.",
          }}
        />
      ) : (
        <Table aria-label="Comparisons that were kept">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>Note</Table.Th>
              <Table.Th>Kept by</Table.Th>
              <Table.Th>Kept</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {kept.data.comparisons.map((each) => (
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
                      loading={deleting.isPending && deleting.variables === each.id}
                      onClick={() => {
                        deleting.mutate(each.id);
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
