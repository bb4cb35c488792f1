import { Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { deleteHost } from "../../api/endpoints";
import { DELETION_KEYS } from "../../api/queries";
import { TypedConfirmDialog } from "../../components/TypedConfirmDialog";
import type { HostStorage } from "../../logic/api";
import { formatBytes, plural } from "../../logic/number";
import { fromApi } from "../../logic/time";
import { formatDate, type Zone } from "../../logic/zone";

interface DeleteHostDialogProps {
  readonly host: HostStorage;
  readonly zone: Zone;
  readonly onClose: () => void;
}

/** Everything of a host goes; its name is typed first. */
export function DeleteHostDialog({ host, zone, onClose }: DeleteHostDialogProps) {
  const client = useQueryClient();
  const deleting = useMutation({
    mutationFn: () => deleteHost(host.host),
    onSuccess: async () => {
      await Promise.all(DELETION_KEYS.map((queryKey) => client.invalidateQueries({ queryKey })));
      onClose();
    },
  });
  const since = host.first_sample_at === null ? "" : `, since ${formatDate(zone, fromApi(host.first_sample_at))}`;
  return (
    <TypedConfirmDialog
      title={`Delete the host ${host.host}`}
      word={host.host}
      action="Delete everything of this host"
      isPending={deleting.isPending}
      error={deleting.error}
      onClose={onClose}
      onConfirm={() => {
        deleting.mutate();
      }}
    >
      <Text fz="sm">
        Gone for good: about {plural(host.n_samples, "sample")}
        {since}, {formatBytes(host.chunk_bytes)} of raw bytes, its streams and rejected lines. Baselines lose this host; agent
        tokens made for it stop working, and an agent that still runs there is turned away.
      </Text>
      <Text fz="sm">
        The host disappears at once; its data is removed in the background, and this page shows how far that is. Restart or not,
        it goes on until all of it is gone.
      </Text>
    </TypedConfirmDialog>
  );
}
