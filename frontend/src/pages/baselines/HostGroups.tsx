import { api } from "../../api/client";
import { ActionIcon, Button, Group, MultiSelect, Table, Text } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { isNotEmpty } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { hostGroupsQuery } from "../../api/baselines";
import { hostsQuery } from "../../api/queries";
import { mayWrite, useMe } from "../../components/me";
import { ScrollCard } from "../../components/ScrollCard";
import { NameField, NoteField } from "../../components/NameAndNote";
import { FormDialog } from "../../components/FormDialog";
import { PendingView, StateView } from "../../components/StateView";
import { useDeletion } from "../../components/useDeletion";
import { useServerForm } from "../../components/useServerForm";
import type { HostGroupInfo } from "../../logic/api";

interface Dialog {
  readonly kind: "edit";
  readonly group: HostGroupInfo | null;
}

/** Groups of hosts; a baseline of a group follows the group's members. */
export function HostGroups() {
  const me = useMe();
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const groups = useQuery(hostGroupsQuery);
  const deletion = useDeletion("host group", [["host-groups"], ["baselines"]]);
  const known = deletion.remaining(groups.data?.groups ?? [], ({ id }) => id);
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
          <PendingView query={groups} what="host groups" />
        ) : known.length === 0 ? (
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
              {known.map((group) => (
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
                            deletion.remove(
                              group.id,
                              `Deleted the host group “${group.name}”; its baselines keep their hosts`,
                              () => api.DELETE("/host-groups/{id}", { params: { path: { id: group.id } } }),
                            );
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
    </>
  );
}

function GroupDialog({ group, onClose }: { readonly group: HostGroupInfo | null; readonly onClose: () => void }) {
  const known = useQuery(hostsQuery).data?.hosts.map(({ name }) => name) ?? [];
  const { form, submission } = useServerForm({
    initialValues: { name: group?.name ?? "", note: group?.note ?? "", hosts: group?.hosts ?? [] },
    validate: { name: isNotEmpty("Enter a name"), hosts: isNotEmpty("Choose at least one host") },
    send: (body) =>
      group === null
        ? api.POST("/host-groups", { body })
        : api.PATCH("/host-groups/{id}", { body, params: { path: { id: group.id } } }),
    renews: [["host-groups"], ["baselines"]],
    onSaved: onClose,
  });
  return (
    <FormDialog {...submission} title={group === null ? "New host group" : "Edit host group"} onClose={onClose}>
      <NameField {...form.getInputProps("name")} />
      <MultiSelect
        label="Hosts"
        searchable
        data={[...new Set([...known, ...form.values.hosts])]}
        {...form.getInputProps("hosts")}
      />
      <NoteField {...form.getInputProps("note")} />
    </FormDialog>
  );
}
