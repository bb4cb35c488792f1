import { Textarea } from "@mantine/core";
import { api } from "../api/client";
import { PAST_KEYS } from "../api/past";
import type { PastIncident } from "../logic/api";
import { FormDialog } from "./FormDialog";
import { useServerForm } from "./useServerForm";

const MAX_REASON = 500;

interface CauseDialogProps {
  readonly incident: PastIncident;
  readonly onClose: () => void;
}

/** Names the cause of an incident and what helped; a comparison that looks like it will say so. */
export function CauseDialog({ incident, onClose }: CauseDialogProps) {
  const { form, submission } = useServerForm({
    initialValues: { cause: incident.cause, remedy: incident.remedy },
    send: (body) => api.PATCH("/past-incidents/{id}", { body, params: { path: { id: incident.id } } }),
    renews: PAST_KEYS,
    onSaved: onClose,
  });
  return (
    <FormDialog {...submission} title="Cause of this incident" onClose={onClose}>
      <Textarea
        label="Cause"
        placeholder="The backup ran late"
        description="Empty: not known. Comparisons that look like this one will say it."
        autosize
        maxLength={MAX_REASON}
        data-autofocus
        {...form.getInputProps("cause")}
      />
      <Textarea
        label="What helped"
        placeholder="Moved it to 03:00"
        autosize
        maxLength={MAX_REASON}
        {...form.getInputProps("remedy")}
      />
    </FormDialog>
  );
}
