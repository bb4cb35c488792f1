import { api } from "../../api/client";
import { Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ARTEFACT_KEYS } from "../../api/artefacts";
import { specsQuery } from "../../api/queries";
import { FormDialog } from "../../components/FormDialog";
import { useServerForm } from "../../components/useServerForm";
import type { Artefact } from "../../logic/api";

interface ReparseDialogProps {
  readonly artefact: Artefact;
  readonly onClose: () => void;
}

/** Reads the text again, as the server finds best or with a chosen spec. */
export function ReparseDialog({ artefact, onClose }: ReparseDialogProps) {
  const specs = useQuery(specsQuery).data?.specs.map(({ name }) => name) ?? [];
  const { form, submission } = useServerForm({
    initialValues: { spec: null as string | null },
    send: (body) => api.POST("/artefacts/{id}/reparse", { body, params: { path: { id: artefact.id } } }),
    renews: ARTEFACT_KEYS,
    onSaved: onClose,
  });
  return (
    <FormDialog {...submission} title="Reparse…" action="Reparse" onClose={onClose}>
      <Text fz="sm">The text is kept. Its parts are parsed again with the current spec, or with the one that you choose.</Text>
      <Select
        label="Spec"
        placeholder="the one that fits best"
        clearable
        searchable
        limit={100}
        data={specs}
        {...form.getInputProps("spec")}
      />
    </FormDialog>
  );
}
