import { api } from "../../api/client";
import { Radio, Stack } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { MUTE_KEYS } from "../../api/comparison";
import { FormDialog } from "../../components/FormDialog";
import { ReasonField } from "../../components/NameAndNote";
import type { FindingGroup } from "../../logic/api";
import { muteChoices } from "../../logic/group";

interface MuteDialogProps {
  readonly group: FindingGroup;
  readonly instanceTitle: string;
  readonly onClose: () => void;
}

/** Mutes series, with a reason. */
export function MuteDialog({ group, instanceTitle, onClose }: MuteDialogProps) {
  const client = useQueryClient();
  const choices = muteChoices(group, instanceTitle);
  const [index, setIndex] = useState("0");
  const [reason, setReason] = useState("");
  const muting = useMutation({
    mutationFn: async () => {
      const choice = choices[Number(index)];
      if (choice !== undefined) {
        await api.POST("/mutes", { body: { ...choice.mute, reason } });
      }
    },
    onSuccess: async () => {
      await Promise.all(MUTE_KEYS.map((queryKey) => client.invalidateQueries({ queryKey })));
      onClose();
    },
  });
  return (
    <FormDialog
      title={`Mute ${group.column}`}
      action="Mute"
      isPending={muting.isPending}
      error={muting.error}
      onSubmit={() => {
        muting.mutate();
      }}
      onClose={onClose}
    >
      <Radio.Group
        value={index}
        onChange={setIndex}
        label="Series to mute"
        description="Muted series are still compared and listed, but not as findings, for all users, until they are unmuted."
      >
        <Stack gap={6} mt={8}>
          {choices.map(({ label }, position) => (
            <Radio key={label} value={String(position)} label={label} {...(position === 0 ? { "data-autofocus": true } : {})} />
          ))}
        </Stack>
      </Radio.Group>
      <ReasonField placeholder="the nightly backup always does this" value={reason} onChange={setReason} />
    </FormDialog>
  );
}
