import { api } from "../api/client";
import { Checkbox, Group, TagsInput, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { showTags } from "../api/tags";
import type { HostInfo } from "../logic/api";
import { MAX_TAG, toTags } from "../logic/event";
import { removableTags } from "../logic/fleet";
import { formatCount } from "../logic/number";
import { FormDialog } from "./FormDialog";
import { useServerForm } from "./useServerForm";
import { counted } from "../logic/counted";

interface TagHostsDialogProps {
  readonly hosts: readonly Pick<HostInfo, "name" | "tags" | "agent_tags">[];
  /** The tags of all hosts, to choose from. */
  readonly known: readonly string[];
  readonly onClose: () => void;
}

/** Gives tags to hosts, and takes tags from them. */
export function TagHostsDialog({ hosts, known, onClose }: TagHostsDialogProps) {
  const client = useQueryClient();
  const { given, ofAgents } = removableTags(hosts);
  const { form, submission } = useServerForm({
    initialValues: { add: [] as string[], remove: [] as string[] },
    validate: { add: (add, { remove }) => (add.length + remove.length === 0 ? "Add a tag, or choose one to remove" : null) },
    send: (tags) => api.POST("/host-tags", { body: { hosts: hosts.map(({ name }) => name), ...tags } }),
    onSaved: async (saved) => {
      await showTags(client, saved);
      onClose();
    },
  });
  const { add } = form.values;
  const [only] = hosts;
  return (
    <FormDialog
      {...submission}
      title={hosts.length === 1 ? `Tags of ${only?.name ?? ""}` : `Tags of ${counted(hosts.length, "host")}`}
      onClose={onClose}
    >
      <TagsInput
        data-autofocus
        size="xs"
        label="Add"
        description="Words without blanks; Enter after each"
        placeholder={add.length === 0 ? "prod, db, rack-7" : ""}
        maxTags={20}
        maxLength={MAX_TAG}
        data={[...known]}
        {...form.getInputProps("add")}
        onChange={(values) => {
          form.setFieldValue("add", [...toTags(values)]);
        }}
      />
      {given.length > 0 && (
        <Checkbox.Group label="Remove" size="xs" {...form.getInputProps("remove")}>
          <Group gap="sm" mt={4}>
            {given.map(({ name, n }) => (
              <Checkbox
                key={name}
                size="xs"
                value={name}
                label={n === hosts.length ? name : `${name} (on ${formatCount(n)} of ${formatCount(hosts.length)})`}
              />
            ))}
          </Group>
        </Checkbox.Group>
      )}
      {ofAgents.length > 0 && (
        <Text fz="sm" className="soft">
          {`Set by agents, and removed only in their agent.conf: ${ofAgents.map(({ name }) => name).join(", ")}`}
        </Text>
      )}
    </FormDialog>
  );
}
