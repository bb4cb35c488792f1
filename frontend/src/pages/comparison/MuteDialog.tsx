import { api } from "../../api/client";
import { Radio, Stack } from "@mantine/core";
import { MUTE_KEYS } from "../../api/comparison";
import { FormDialog } from "../../components/FormDialog";
import { ReasonField } from "../../components/NameAndNote";
import { useServerForm } from "../../components/useServerForm";
import type { FindingGroup } from "../../logic/api";
import { muteChoices } from "../../logic/group";

interface MuteDialogProps {
  readonly group: FindingGroup;
  readonly instanceTitle: string;
  readonly onClose: () => void;
}

/** Mutes series, with a reason. */
export function MuteDialog({ group, instanceTitle, onClose }: MuteDialogProps) {
  const choices = muteChoices(group, instanceTitle);
  const { form, submission } = useServerForm({
    initialValues: { choice: "0", reason: "" },
    send: async ({ choice, reason }) => {
      const chosen = choices[Number(choice)];
      if (chosen !== undefined) {
        await api.POST("/mutes", { body: { ...chosen.mute, reason } });
      }
    },
    renews: MUTE_KEYS,
    onSaved: onClose,
  });
  return (
    <FormDialog {...submission} title={`Mute ${group.column}`} action="Mute" onClose={onClose}>
      <Radio.Group
        label="Series to mute"
        description="Muted series are still compared and listed, but not as findings, for all users, until they are unmuted."
        {...form.getInputProps("choice")}
      >
        <Stack gap={6} mt={8}>
          {choices.map(({ label }, position) => (
            <Radio key={label} value={String(position)} label={label} {...(position === 0 ? { "data-autofocus": true } : {})} />
          ))}
        </Stack>
      </Radio.Group>
      <ReasonField placeholder="the nightly backup always does this" {...form.getInputProps("reason")} />
    </FormDialog>
  );
}
