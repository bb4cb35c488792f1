import { api } from "../api/client";
import { Button, Group, Modal, Radio, Text } from "@mantine/core";
import { isNotEmpty } from "@mantine/form";
import { EXCLUSION_KEYS } from "../api/baselines";
import { toIso, type Window } from "../logic/time";
import type { Zone } from "../logic/zone";
import { NameField, NoteField } from "./NameAndNote";
import { FormDialog } from "./FormDialog";
import { nullable, useServerForm } from "./useServerForm";
import { WindowInputs } from "./WindowInputs";
import { counted } from "../logic/counted";

interface ExcludeDialogProps {
  /** The host of the incident; null when no host was preselected. */
  readonly host: string | null;
  readonly window: Window;
  readonly zone: Zone;
  readonly onClose: () => void;
}

/** Excludes a window from all baselines that cover it. */
export function ExcludeDialog({ host, window: marked, zone, onClose }: ExcludeDialogProps) {
  const { form, submission, saved } = useServerForm({
    initialValues: { name: "", note: "", scope: host === null ? "all" : "host", window: nullable(marked) },
    validate: { name: isNotEmpty("Enter a name"), window: isNotEmpty() },
    send: ({ name, note, scope, window }) => {
      const { start, end } = window ?? marked;
      return api.POST("/exclusions", {
        body: { name, note, start: toIso(start), end: toIso(end), host: scope === "host" ? host : null },
      });
    },
    renews: EXCLUSION_KEYS,
  });
  if (saved) {
    return (
      <Modal opened onClose={onClose} title="Period excluded">
        <Text fz="sm" mb="md" role="status">
          {`Excluded “${saved.exclusion.name}” from ${counted(saved.n_baselines, "baseline")}.`}
        </Text>
        <Group justify="flex-end">
          <Button data-autofocus onClick={onClose}>
            Close
          </Button>
        </Group>
      </Modal>
    );
  }
  return (
    <FormDialog {...submission} title="Exclude from baselines" action="Exclude" onClose={onClose}>
      <Text fz="sm">This period was not normal. Current and future baselines will ignore it.</Text>
      <WindowInputs window={marked} zone={zone} {...form.getInputProps("window")} />
      {host !== null && (
        <Radio.Group label="Affected hosts" {...form.getInputProps("scope")}>
          <Group gap="md" mt={6}>
            <Radio value="host" label={host} />
            <Radio value="all" label="all hosts" />
          </Group>
        </Radio.Group>
      )}
      <NameField placeholder="Backup overran into the morning" {...form.getInputProps("name")} />
      <NoteField maxRows={8} {...form.getInputProps("note")} />
    </FormDialog>
  );
}
