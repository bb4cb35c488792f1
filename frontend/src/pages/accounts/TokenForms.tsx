import { Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { roleOptions, rolesUpTo } from "../../logic/account";
import type { AgentTokenCreate, ApiTokenCreate, Me, Role } from "../../logic/api";
import { RowForm } from "../../components/RowForm";

interface FormProps<B> {
  readonly isPending: boolean;
  readonly onSubmit: (body: B) => void;
}

/** The form for a new API token. */
export function ApiTokenForm({ me, isPending, onSubmit }: FormProps<ApiTokenCreate> & { readonly me: Me }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const roles = rolesUpTo(me.role);
  return (
    <RowForm
      action="Create token"
      isReady={name.trim() !== ""}
      isPending={isPending}
      onSubmit={() => {
        onSubmit({ name, role });
      }}
    >
      <TextInput
        size="xs"
        w={260}
        label="Name"
        placeholder="nightly CSV export"
        required
        maxLength={200}
        value={name}
        onChange={(event) => {
          setName(event.currentTarget.value);
        }}
      />
      <Select
        size="xs"
        w={150}
        label="Role"
        allowDeselect={false}
        data={roleOptions(roles)}
        value={role}
        onChange={(value) => {
          setRole(roles.find((known) => known === value) ?? "viewer");
        }}
      />
    </RowForm>
  );
}

/** The form for a new agent token, optionally bound to a host. */
export function AgentTokenForm({ isPending, onSubmit }: FormProps<AgentTokenCreate>) {
  const [name, setName] = useState("");
  const [host, setHost] = useState("");
  return (
    <RowForm
      action="Create token"
      isReady={name.trim() !== ""}
      isPending={isPending}
      onSubmit={() => {
        onSubmit(host.trim() === "" ? { name } : { name, host });
      }}
    >
      <TextInput
        size="xs"
        w={260}
        label="Name"
        placeholder="agents of the web servers"
        required
        maxLength={200}
        value={name}
        onChange={(event) => {
          setName(event.currentTarget.value);
        }}
      />
      <TextInput
        size="xs"
        w={200}
        label="Host (optional)"
        placeholder="any host"
        maxLength={200}
        value={host}
        onChange={(event) => {
          setHost(event.currentTarget.value);
        }}
      />
    </RowForm>
  );
}
