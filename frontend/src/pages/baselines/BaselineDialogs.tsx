import { Button, Group, Modal, Stack, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { deleteBaseline, updateBaseline } from "../../api/endpoints";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { ErrorLine } from "../../components/StateView";
import type { BaselineInfo } from "../../logic/api";

interface DialogProps {
  readonly baseline: BaselineInfo;
  readonly onClose: () => void;
}

/** Another name or note. */
export function EditBaselineDialog({ baseline, onClose }: DialogProps) {
  const client = useQueryClient();
  const [name, setName] = useState(baseline.name);
  const [note, setNote] = useState(baseline.note);
  const saving = useMutation({
    mutationFn: () => updateBaseline(baseline.id, { name, note }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["baselines"] });
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title="Edit baseline">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          saving.mutate();
        }}
      >
        <Stack gap="sm">
          <TextInput
            label="Name"
            required
            maxLength={200}
            data-autofocus
            value={name}
            onChange={(event) => {
              setName(event.currentTarget.value);
            }}
          />
          <Textarea
            label="Note"
            autosize
            minRows={3}
            maxRows={12}
            maxLength={10_000}
            value={note}
            onChange={(event) => {
              setNote(event.currentTarget.value);
            }}
          />
          <ErrorLine error={saving.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={saving.isPending} disabled={name.trim() === ""}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** Gone for good, but only the mark. */
export function DeleteBaselineDialog({ baseline, onClose }: DialogProps) {
  const client = useQueryClient();
  const deleting = useMutation({
    mutationFn: () => deleteBaseline(baseline.id),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["baselines"] });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title="Delete baseline"
      action="Delete"
      isPending={deleting.isPending}
      error={deleting.error}
      onClose={onClose}
      onConfirm={() => {
        deleting.mutate();
      }}
    >
      Delete <b>{baseline.name}</b>? Links to comparisons with it will not work any more. The samples of{" "}
      {baseline.hosts.join(", ")} stay.
    </ConfirmDialog>
  );
}
