import { api } from "../../api/client";
import { Select, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ARTEFACT_KEYS } from "../../api/artefacts";
import { specsQuery } from "../../api/queries";
import { FormDialog } from "../../components/FormDialog";
import type { Artefact } from "../../logic/api";

interface ReparseDialogProps {
  readonly artefact: Artefact;
  readonly onClose: () => void;
}

/** Reads the text again, as the server finds best or with a chosen spec. */
export function ReparseDialog({ artefact, onClose }: ReparseDialogProps) {
  const client = useQueryClient();
  const specs = useQuery(specsQuery).data?.specs.map(({ name }) => name) ?? [];
  const [spec, setSpec] = useState<string | null>(null);
  const reading = useMutation({
    mutationFn: () => api.POST("/artefacts/{id}/reparse", { body: { spec }, params: { path: { id: artefact.id } } }),
    onSuccess: async () => {
      await Promise.all(ARTEFACT_KEYS.map((queryKey) => client.invalidateQueries({ queryKey })));
      onClose();
    },
  });
  return (
    <FormDialog
      title="Read the text again…"
      action="Reparse"
      isPending={reading.isPending}
      error={reading.error}
      onSubmit={() => {
        reading.mutate();
      }}
      onClose={onClose}
    >
      <Text fz="sm">The text stays. Its parts are made again with the current readers, or with the one that you choose.</Text>
      <Select
        label="Spec"
        placeholder="the one that fits best"
        clearable
        searchable
        limit={100}
        data={specs}
        value={spec}
        onChange={setSpec}
      />
    </FormDialog>
  );
}
