import { api } from "../../api/client";
import { Autocomplete, Button, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { hostsQuery, importQuery, importsQuery } from "../../api/queries";
import { FormDialog } from "../../components/FormDialog";
import type { Import, ImportUpdate } from "../../logic/api";
import { changeOf, describePlace, isComplete, optionProblems, NO_OPTIONS, sampleWindow } from "../../logic/imports";
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
  const [label, setLabel] = useState(item.label);
  const [host, setHost] = useState(item.host);
  const [start, setStart] = useState(oldStart);
  const startAt = parseInstant(start, zone, readNow());
  const problems = optionProblems({ ...NO_OPTIONS, host, start: start === oldStart ? "" : start }, startAt);
  const onSuccess = (): void => {
    void client.invalidateQueries({ queryKey: importQuery(item.id).queryKey });
    void client.invalidateQueries({ queryKey: importsQuery.queryKey });
    onClose();
  };
  const changing = useMutation({
    mutationFn: (change: ImportUpdate) => api.PUT("/imports/{id}", { params: { path: { id: item.id } }, body: change }),
    onSuccess,
  });
  const undoing = useMutation({
    mutationFn: () => api.POST("/imports/{id}/undo-change", { params: { path: { id: item.id } } }),
    onSuccess,
  });
  return (
    <FormDialog
      title={`Change ${item.name}`}
      isReady={isComplete(problems)}
      isPending={changing.isPending}
      error={changing.error ?? undoing.error}
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
      onSubmit={() => {
        changing.mutate(changeOf(item, { label, host, startAt: start === oldStart ? null : startAt }));
      }}
      onClose={onClose}
    >
      <TextInput
        label="Title"
        placeholder={item.name}
        data-autofocus
        maxLength={200}
        value={label}
        onChange={(event) => {
          setLabel(event.currentTarget.value);
        }}
      />
      <Autocomplete
        label="Host"
        data={hosts.map(({ name }) => name)}
        limit={50}
        value={host}
        error={problems.host}
        onChange={setHost}
      />
      {window !== null && (
        <TextInput
          label={`First sample at (${zone})`}
          value={start}
          error={problems.start}
          spellCheck={false}
          onChange={(event) => {
            setStart(event.currentTarget.value);
          }}
        />
      )}
      <Text fz="sm" className="soft">
        {item.earlier === null
          ? "The samples are derived again from the stored output, for the new host and time. This can be undone."
          : `Before the last change: ${describePlace(item.earlier, item.name)}`}
      </Text>
    </FormDialog>
  );
}
