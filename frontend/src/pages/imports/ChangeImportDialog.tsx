import { api } from "../../api/client";
import { Autocomplete, Button, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { hostsQuery, importQuery, importsQuery } from "../../api/queries";
import { FormDialog } from "../../components/FormDialog";
import { useServerForm } from "../../components/useServerForm";
import type { Import } from "../../logic/api";
import { changeOf, describePlace, optionProblems, NO_OPTIONS, sampleWindow } from "../../logic/imports";
import { formatInstant, parseInstant, type Zone } from "../../logic/zone";
import { readNow } from "../../state/clock";

interface ChangeImportDialogProps {
  readonly item: Import;
  /** The zone of a time without one. */
  readonly zone: Zone;
  readonly onClose: () => void;
}

/** Gives an import another title, host and date, or takes the last such change back. */
export function ChangeImportDialog({ item, zone, onClose }: ChangeImportDialogProps) {
  const client = useQueryClient();
  const hosts = useQuery(hostsQuery).data?.hosts ?? [];
  const window = sampleWindow(item.files);
  const oldStart = window === null ? "" : formatInstant(zone, window.start);
  const renews = [importQuery(item.id).queryKey, importsQuery.queryKey];
  const readStart = (text: string) => (text === oldStart ? null : parseInstant(text, zone, readNow()));
  const { form, submission } = useServerForm({
    initialValues: { label: item.label, host: item.host, start: oldStart },
    validate: ({ host, start }) =>
      optionProblems({ ...NO_OPTIONS, host, start: start === oldStart ? "" : start }, readStart(start)),
    checksEarly: ["host", "start"],
    send: ({ start, ...place }) =>
      api.PUT("/imports/{id}", {
        params: { path: { id: item.id } },
        body: changeOf(item, { ...place, startAt: readStart(start) }),
      }),
    renews,
    onSaved: onClose,
  });
  const undoing = useMutation({
    mutationFn: () => api.POST("/imports/{id}/undo-change", { params: { path: { id: item.id } } }),
    onSuccess: async () => {
      await Promise.all(renews.map((queryKey) => client.invalidateQueries({ queryKey })));
      onClose();
    },
  });
  return (
    <FormDialog
      {...submission}
      title={`Change ${item.name}`}
      error={submission.error ?? undoing.error}
      {...(item.earlier === null
        ? {}
        : {
            note: (
              <Button
                variant="subtle"
                loading={undoing.isPending}
                onClick={() => {
                  undoing.mutate();
                }}
              >
                Undo the last change
              </Button>
            ),
          })}
      onClose={onClose}
    >
      <TextInput label="Title" placeholder={item.name} data-autofocus maxLength={200} {...form.getInputProps("label")} />
      <Autocomplete label="Host" data={hosts.map(({ name }) => name)} limit={50} {...form.getInputProps("host")} />
      {window !== null && <TextInput label={`First sample at (${zone})`} spellCheck={false} {...form.getInputProps("start")} />}
      <Text fz="sm" className="soft">
        {item.earlier === null
          ? "The samples are derived again from the stored output, for the new host and time. This can be undone."
          : `Before the last change: ${describePlace(item.earlier, item.name)}`}
      </Text>
    </FormDialog>
  );
}
