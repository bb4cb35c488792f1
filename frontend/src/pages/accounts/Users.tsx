import { api } from "../../api/client";
import { Button, Checkbox, Group, Modal, PasswordInput, Select, Stack, Table, Text, TextInput } from "@mantine/core";
import { isNotEmpty } from "@mantine/form";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { usersQuery } from "../../api/accounts";

import { ConfirmDialog } from "../../components/ConfirmDialog";
import { Instant } from "../../components/Instant";
import { ScrollCard } from "../../components/ScrollCard";
import { FormDialog } from "../../components/FormDialog";
import { ErrorLine, PendingView } from "../../components/StateView";
import { PASSWORD_HELP, passwordProblem, ROLE_HELP, ROLE_LABELS, roleOptions, ROLES } from "../../logic/account";
import type { Me, UserCreate, UserInfo, UserUpdate } from "../../logic/api";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { RowForm } from "../../components/RowForm";
import { useServerForm } from "../../components/useServerForm";
import { HostAccessDialog } from "./HostAccessDialog";
import { Sessions } from "./Sessions";
import { nodes } from "../../components/nodes";

interface UsersProps {
  readonly zone: Zone;
  readonly me: Me;
}

type Dialog = { readonly kind: "password" | "sessions" | "second-factor" | "hosts" | "delete"; readonly user: UserInfo };

/** All accounts: create, change the role, set a password, disable, delete. */
export function Users({ zone, me }: UsersProps) {
  const client = useQueryClient();
  const users = useQuery(usersQuery);
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const renew = () => client.invalidateQueries({ queryKey: usersQuery.queryKey });
  const changing = useMutation({
    mutationFn: ({ name, change }: { readonly name: string; readonly change: UserUpdate }) =>
      api.PATCH("/users/{name}", { body: change, params: { path: { name } } }),
    onSettled: renew,
  });
  const deleting = useMutation({
    mutationFn: (account: string) => api.DELETE("/users/{name}", { params: { path: { name: account } } }),
    onSuccess: async () => {
      await renew();
      setDialog(null);
    },
  });
  const resetting = useMutation({
    mutationFn: (account: string) => api.DELETE("/users/{name}/second-factor", { params: { path: { name: account } } }),
    onSuccess: async () => {
      await renew();
      setDialog(null);
    },
  });
  const close = (): void => {
    setDialog(null);
    resetting.reset();
    deleting.reset();
  };
  if (users.data === undefined) {
    return <PendingView query={users} what="accounts" />;
  }
  return (
    <Stack gap="md">
      <Text fz="sm" className="soft">
        {ROLES.map((role) => `${ROLE_LABELS[role]}: ${ROLE_HELP[role]}`).join("; ")}.
      </Text>
      <NewUserForm />
      <ErrorLine error={changing.error} />
      <ScrollCard label="Accounts">
        <Table aria-label="Accounts">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>Role</Table.Th>
              <Table.Th>Hosts</Table.Th>
              <Table.Th>Password</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th>Created</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {users.data.users.map((user) => (
              <Table.Tr key={user.name}>
                <Table.Td fw={600}>
                  {user.name}
                  {user.name === me.name && <span className="soft"> (you)</span>}
                </Table.Td>
                <Table.Td>
                  <Select
                    size="xs"
                    w={150}
                    aria-label={`Role of ${user.name}`}
                    allowDeselect={false}
                    data={roleOptions(ROLES)}
                    value={user.role}
                    onChange={(value) => {
                      const role = ROLES.find((known) => known === value);
                      if (role !== undefined && role !== user.role) {
                        changing.mutate({ name: user.name, change: { role } });
                      }
                    }}
                  />
                </Table.Td>
                <Table.Td>
                  {user.role === "administrator" && user.host_groups === null ? (
                    "all"
                  ) : (
                    <Button
                      size="compact-xs"
                      variant="default"
                      maw={220}
                      aria-label={`Hosts of ${user.name}: ${hostsWord(user.host_groups)}`}
                      title={user.host_groups?.join(", ")}
                      onClick={() => {
                        setDialog({ kind: "hosts", user });
                      }}
                    >
                      {hostsWord(user.host_groups)}
                    </Button>
                  )}
                </Table.Td>
                <Table.Td>
                  {user.has_password ? "set" : <span className="soft">none (one-time link only)</span>}
                  {user.has_second_factor && (
                    <>
                      {" + "}
                      <Button
                        size="compact-xs"
                        variant="default"
                        aria-label={`Reset the second factor of ${user.name}`}
                        onClick={() => {
                          setDialog({ kind: "second-factor", user });
                        }}
                      >
                        Second factor
                      </Button>
                    </>
                  )}
                </Table.Td>
                <Table.Td>{user.is_disabled ? "disabled" : "enabled"}</Table.Td>
                <Table.Td>
                  <Instant at={fromApi(user.created_at)} zone={zone} />
                </Table.Td>
                <Table.Td>
                  <Group gap={6} justify="flex-end" wrap="nowrap">
                    <Button
                      size="compact-xs"
                      variant="default"
                      onClick={() => {
                        setDialog({ kind: "password", user });
                      }}
                    >
                      Set password
                    </Button>
                    <Button
                      size="compact-xs"
                      variant="default"
                      onClick={() => {
                        setDialog({ kind: "sessions", user });
                      }}
                    >
                      Sessions
                    </Button>
                    <Button
                      size="compact-xs"
                      variant="default"
                      disabled={user.name === me.name}
                      onClick={() => {
                        changing.mutate({ name: user.name, change: { is_disabled: !user.is_disabled } });
                      }}
                    >
                      {user.is_disabled ? "Enable" : "Disable"}
                    </Button>
                    <Button
                      size="compact-xs"
                      variant="default"
                      disabled={user.name === me.name}
                      onClick={() => {
                        setDialog({ kind: "delete", user });
                      }}
                    >
                      Delete
                    </Button>
                  </Group>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollCard>
      {dialog?.kind === "password" && <SetPasswordDialog user={dialog.user} onClose={close} />}
      {dialog?.kind === "sessions" && (
        <Modal opened onClose={close} title={`Sessions of ${dialog.user.name}`} size="xl">
          <Sessions account={dialog.user.name} zone={zone} />
        </Modal>
      )}
      {dialog?.kind === "hosts" && <HostAccessDialog user={dialog.user} onClose={close} />}
      {dialog?.kind === "second-factor" && (
        <ConfirmDialog
          title="Reset second factor"
          action="Reset second factor"
          isPending={resetting.isPending}
          error={resetting.error}
          onClose={close}
          onConfirm={() => {
            resetting.mutate(dialog.user.name);
          }}
        >
          {nodes`For a lost phone: ${<b>{dialog.user.name}</b>} logs in by password alone until it sets up a new one. All of its sessions end.`}
        </ConfirmDialog>
      )}
      {dialog?.kind === "delete" && (
        <ConfirmDialog
          title="Delete account"
          action="Delete"
          isPending={deleting.isPending}
          error={deleting.error}
          onClose={close}
          onConfirm={() => {
            deleting.mutate(dialog.user.name);
          }}
        >
          {nodes`Delete ${<b>{dialog.user.name}</b>}? Its sessions and API tokens end. Baselines it created are kept.`}
        </ConfirmDialog>
      )}
    </Stack>
  );
}

/** Which hosts an account sees, in a cell. */
function hostsWord(groups: readonly string[] | null): string {
  return groups === null ? "all" : groups.length === 0 ? "none" : groups.join(", ");
}

const NEW_USER: UserCreate = { name: "", password: "", role: "viewer" };

function NewUserForm() {
  const { form, submission } = useServerForm({
    initialValues: NEW_USER,
    validate: { name: isNotEmpty("Enter a name"), password: passwordProblem },
    checksEarly: ["password"],
    send: (body) => api.POST("/users", { body }),
    renews: [usersQuery.queryKey],
    onSaved: (_, { resetField }) => {
      resetField("name");
      resetField("password");
    },
  });
  return (
    <RowForm {...submission} action="Create account">
      <TextInput
        size="xs"
        w={200}
        label="New account"
        placeholder="name"
        autoComplete="off"
        required
        maxLength={200}
        {...form.getInputProps("name")}
      />
      <PasswordInput
        size="xs"
        w={220}
        label="Initial password"
        autoComplete="new-password"
        required
        {...form.getInputProps("password")}
      />
      <Select size="xs" w={150} label="Role" allowDeselect={false} data={roleOptions(ROLES)} {...form.getInputProps("role")} />
    </RowForm>
  );
}

function SetPasswordDialog({ user, onClose }: { readonly user: UserInfo; readonly onClose: () => void }) {
  const { form, submission } = useServerForm({
    initialValues: { password: "", revoke_api_tokens: true },
    validate: { password: passwordProblem },
    checksEarly: ["password"],
    send: (body) => api.PATCH("/users/{name}", { body, params: { path: { name: user.name } } }),
    renews: [usersQuery.queryKey],
    onSaved: onClose,
  });
  return (
    <FormDialog {...submission} title={`New password for ${user.name}`} action="Set password" onClose={onClose}>
      <Text fz="sm">This logs out all sessions of the account.</Text>
      <PasswordInput
        label="New password"
        description={PASSWORD_HELP}
        autoComplete="new-password"
        required
        data-autofocus
        {...form.getInputProps("password")}
      />
      <Checkbox
        size="xs"
        label="Revoke the account's API tokens"
        {...form.getInputProps("revoke_api_tokens", { type: "checkbox" })}
      />
    </FormDialog>
  );
}
