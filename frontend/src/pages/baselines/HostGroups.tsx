import { ActionIcon, Button, Group, Modal, MultiSelect, Stack, Table, Text } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { createHostGroup, deleteHostGroup, hostGroupsQuery, updateHostGroup } from "../../api/baselines";
import { hostsQuery } from "../../api/queries";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { mayWrite, useMe } from "../../components/me";
import { ScrollCard } from "../../components/ScrollCard";
import { NameField, NoteField } from "../../components/NameAndNote";
import { ErrorLine, StateView } from "../../components/StateView";
import type { HostGroupInfo } from "../../logic/api";

type Dialog =
  { readonly kind: "edit"; readonly group: HostGroupInfo | null } | { readonly kind: "delete"; readonly group: HostGroupInfo };

/** Groups of hosts; a baseline of a group follows the group's members. */
export function HostGroups() {
  const me = useMe();
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const groups = useQuery(hostGroupsQuery);
  const close = (): void => {
    setDialog(null);
  };
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Text fz="sm" className="soft">
          A baseline of a group covers each of its hosts. Changing the members creates a new version of it.
        </Text>
        {mayWrite(me) && (
          <Button
            variant="default"
            onClick={() => {
              setDialog({ kind: "edit", group: null });
            }}
          >
            New host group…
          </Button>
        )}
      </Group>
      <ScrollCard label="Host groups">
        {groups.data === undefined ? (
          <StateView
            state={
              groups.error
                ? { kind: "error", error: groups.error, onRetry: () => void groups.refetch() }
                : { kind: "loading", what: "host groups" }
            }
          />
        ) : groups.data.groups.length === 0 ? (
          <StateView
            state={{ kind: "empty", title: "No host groups yet", next: "Put hosts that do the same work in one group." }}
          />
        ) : (
          <Table aria-label="Host groups">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th>Hosts</Table.Th>
                <Table.Th>Baselines</Table.Th>
                <Table.Th>Note</Table.Th>
                <Table.Th />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {groups.data.groups.map((group) => (
                <Table.Tr key={group.id}>
                  <Table.Td fw={600}>{group.name}</Table.Td>
                  <Table.Td>{group.hosts.join(", ")}</Table.Td>
                  <Table.Td>{group.baselines.join(", ")}</Table.Td>
                  <Table.Td maw={420} style={{ whiteSpace: "pre-wrap" }}>
                    {group.note}
                  </Table.Td>
                  <Table.Td>
                    {mayWrite(me) && (
                      <Group gap={2} wrap="nowrap" justify="flex-end">
                        <ActionIcon
                          aria-label={`Edit group ${group.name}`}
                          onClick={() => {
                            setDialog({ kind: "edit", group });
                          }}
                        >
                          <IconPencil size={15} />
                        </ActionIcon>
                        <ActionIcon
                          aria-label={`Delete group ${group.name}`}
                          onClick={() => {
                            setDialog({ kind: "delete", group });
                          }}
                        >
                          <IconTrash size={15} />
                        </ActionIcon>
                      </Group>
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </ScrollCard>
      {dialog?.kind === "edit" && <GroupDialog group={dialog.group} onClose={close} />}
      {dialog?.kind === "delete" && <DeleteGroupDialog group={dialog.group} onClose={close} />}
    </>
  );
}

function GroupDialog({ group, onClose }: { readonly group: HostGroupInfo | null; readonly onClose: () => void }) {
  const client = useQueryClient();
  const known = useQuery(hostsQuery).data?.hosts.map(({ name }) => name) ?? [];
  const [name, setName] = useState(group?.name ?? "");
  const [note, setNote] = useState(group?.note ?? "");
  const [hosts, setHosts] = useState<readonly string[]>(group?.hosts ?? []);
  const saving = useMutation({
    mutationFn: () => {
      const body = { name, note, hosts: [...hosts] };
      return group === null ? createHostGroup(body) : updateHostGroup(group.id, body);
    },
    onSuccess: async () => {
      await Promise.all([["host-groups"], ["baselines"]].map((queryKey) => client.invalidateQueries({ queryKey })));
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title={group === null ? "New host group" : "Edit host group"}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          saving.mutate();
        }}
      >
        <Stack gap="sm">
          <NameField value={name} onChange={setName} />
          <MultiSelect
            label="Hosts"
            searchable
            data={[...new Set([...known, ...hosts])]}
            value={[...hosts]}
            onChange={setHosts}
          />
          <NoteField value={note} onChange={setNote} />
          <ErrorLine error={saving.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={saving.isPending} disabled={name.trim() === "" || hosts.length === 0}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function DeleteGroupDialog({ group, onClose }: { readonly group: HostGroupInfo; readonly onClose: () => void }) {
  const client = useQueryClient();
  const deleting = useMutation({
    mutationFn: () => deleteHostGroup(group.id),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["host-groups"] });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title="Delete host group"
      action="Delete"
      isPending={deleting.isPending}
      error={deleting.error}
      onClose={onClose}
      onConfirm={() => {
        deleting.mutate();
      }}
    >
      Delete the group <b>{group.name}</b>? Its hosts are kept, and its baselines keep their current hosts.
    </ConfirmDialog>
  );
}
