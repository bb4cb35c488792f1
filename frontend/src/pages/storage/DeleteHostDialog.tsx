import { api } from "../../api/client";
import { Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { DELETION_KEYS } from "../../api/queries";
import { TypedConfirmDialog } from "../../components/TypedConfirmDialog";
import type { HostStorage } from "../../logic/api";
import { formatBytes } from "../../logic/number";
import { fromApi } from "../../logic/time";
import { formatDate, type Zone } from "../../logic/zone";
import { counted } from "../../logic/counted";

interface DeleteHostDialogProps {
  readonly host: HostStorage;
  readonly zone: Zone;
  readonly onClose: () => void;
}

/** Deletes a host and all its data, after its name was typed. */
export function DeleteHostDialog({ host, zone, onClose }: DeleteHostDialogProps) {
  const client = useQueryClient();
  const deleting = useMutation({
    mutationFn: () => api.DELETE("/hosts/{host}", { params: { path: { host: host.host } } }),
    onSuccess: async () => {
      await Promise.all(DELETION_KEYS.map((queryKey) => client.invalidateQueries({ queryKey })));
      onClose();
    },
  });
  const since = host.first_sample_at === null ? "" : `, since ${formatDate(zone, fromApi(host.first_sample_at))}`;
  return (
    <TypedConfirmDialog
      title={`Delete host ${host.host}`}
      word={host.host}
      action="Delete host and all its data"
      isPending={deleting.isPending}
      error={deleting.error}
      onClose={onClose}
      onConfirm={() => {
        deleting.mutate();
      }}
    >
      <Text fz="sm">
        {`This permanently deletes about ${counted(host.n_samples, "sample")}${since}, ${formatBytes(host.chunk_bytes)} of raw bytes, all streams and all rejected lines. The host is removed from its baselines. Its agent tokens stop working, and an agent that still runs there is rejected.`}
      </Text>
      <Text fz="sm">
        The host disappears at once. Its data is deleted in the background; this page shows the progress. Deletion continues after
        a restart.
      </Text>
    </TypedConfirmDialog>
  );
}
