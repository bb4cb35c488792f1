import { Select, TextInput } from "@mantine/core";
import { isNotEmpty } from "@mantine/form";
import { roleOptions, rolesUpTo } from "../../logic/account";
import type { AgentTokenCreate, ApiTokenCreate, Me } from "../../logic/api";
import { RowForm } from "../../components/RowForm";
import { useServerForm } from "../../components/useServerForm";

interface FormProps<B> {
  readonly send: (body: B) => Promise<unknown>;
}

const API_TOKEN: ApiTokenCreate = { name: "", role: "viewer" };

/** The form for a new API token. */
export function ApiTokenForm({ me, send }: FormProps<ApiTokenCreate> & { readonly me: Me }) {
  const { form, submission } = useServerForm({ initialValues: API_TOKEN, validate: { name: isNotEmpty("Enter a name") }, send });
  return (
    <RowForm {...submission} action="Create token">
      <TextInput
        size="xs"
        w={260}
        label="Name"
        placeholder="nightly CSV export"
        required
        maxLength={200}
        {...form.getInputProps("name")}
      />
      <Select
        size="xs"
        w={150}
        label="Role"
        allowDeselect={false}
        data={roleOptions(rolesUpTo(me.role))}
        {...form.getInputProps("role")}
      />
    </RowForm>
  );
}

/** The form for a new agent token, optionally bound to a host. */
export function AgentTokenForm({ send }: FormProps<AgentTokenCreate>) {
  const { form, submission } = useServerForm({
    initialValues: { name: "", host: "" },
    validate: { name: isNotEmpty("Enter a name") },
    send: ({ name, host }) => send(host.trim() === "" ? { name } : { name, host }),
  });
  return (
    <RowForm {...submission} action="Create token">
      <TextInput
        size="xs"
        w={260}
        label="Name"
        placeholder="agents of the web servers"
        required
        maxLength={200}
        {...form.getInputProps("name")}
      />
      <TextInput
        size="xs"
        w={200}
        label="Host (optional)"
        placeholder="any host"
        maxLength={200}
        {...form.getInputProps("host")}
      />
    </RowForm>
  );
}
