import { Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { deleteHost } from "../../api/endpoints";
import { DELETION_KEYS } from "../../api/queries";
import { TypedConfirmDialog } from "../../components/TypedConfirmDialog";
import type { HostStorage } from "../../logic/api";
import { formatBytes } from "../../logic/number";
import { fromApi } from "../../logic/time";
import { formatDate, type Zone } from "../../logic/zone";
import { words } from "../../words";

interface DeleteHostDialogProps {
  readonly host: HostStorage;
  readonly zone: Zone;
  readonly onClose: () => void;
}

/** Deletes a host and all its data, after its name was typed. */
export function DeleteHostDialog({ host, zone, onClose }: DeleteHostDialogProps) {
  const client = useQueryClient();
  const deleting = useMutation({
    mutationFn: () => deleteHost(host.host),
    onSuccess: async () => {
      await Promise.all(DELETION_KEYS.map((queryKey) => client.invalidateQueries({ queryKey })));
      onClose();
    },
  });
  const since =
    host.first_sample_at === null ? "" : words.storage.deleteHostDialog.since(formatDate(zone, fromApi(host.first_sample_at)));
  return (
    <TypedConfirmDialog
      title={words.storage.deleteHostDialog.deleteHost(host.host)}
      word={host.host}
      action={words.storage.deleteHostDialog.deleteHostAllData}
      isPending={deleting.isPending}
      error={deleting.error}
      onClose={onClose}
      onConfirm={() => {
        deleting.mutate();
      }}
    >
      <Text fz="sm">
        {words.storage.deleteHostDialog.permanentlyDeletesAboutSample(host.n_samples, since, formatBytes(host.chunk_bytes))}
      </Text>
      <Text fz="sm">{words.storage.deleteHostDialog.hostDisappearsOnceData}</Text>
    </TypedConfirmDialog>
  );
}
