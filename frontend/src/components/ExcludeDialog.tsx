import { api } from "../api/client";
import { Button, Group, Modal, Radio, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { EXCLUSION_KEYS } from "../api/baselines";
import { toIso, type Window } from "../logic/time";
import type { Zone } from "../logic/zone";
import { NameField, NoteField } from "./NameAndNote";
import { FormDialog } from "./FormDialog";
import { WindowInputs } from "./WindowInputs";
import { counted } from "../logic/counted";

interface ExcludeDialogProps {
  /** The host of the incident; null when no host was preselected. */
  readonly host: string | null;
  readonly window: Window;
  readonly zone: Zone;
  readonly onClose: () => void;
}

/** Excludes a window from all baselines that cover it. */
export function ExcludeDialog({ host, window: marked, zone, onClose }: ExcludeDialogProps) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [note, setNote] = useState("");
  const [scope, setScope] = useState(host === null ? "all" : "host");
  const [window, setWindow] = useState<Window | null>(marked);
  const marking = useMutation({
    mutationFn: async () =>
      window === null
        ? null
        : api.POST("/exclusions", {
            body: { name, note, start: toIso(window.start), end: toIso(window.end), host: scope === "host" ? host : null },
          }),
    onSuccess: () => Promise.all(EXCLUSION_KEYS.map((queryKey) => client.invalidateQueries({ queryKey }))),
  });
  if (marking.data) {
    return (
      <Modal opened onClose={onClose} title="Period excluded">
        <Text fz="sm" mb="md" role="status">
          {`Excluded “${marking.data.exclusion.name}” from ${counted(marking.data.n_baselines, "baseline")}.`}
        </Text>
        <Group justify="flex-end">
          <Button data-autofocus onClick={onClose}>
            Close
          </Button>
        </Group>
      </Modal>
    );
  }
  return (
    <FormDialog
      title="Exclude from baselines"
      action="Exclude"
      isReady={name.trim() !== "" && window !== null}
      isPending={marking.isPending}
      error={marking.error}
      onSubmit={() => {
        marking.mutate();
      }}
      onClose={onClose}
    >
      <Text fz="sm">This period was not normal. Current and future baselines will ignore it.</Text>
      <WindowInputs window={marked} zone={zone} onChange={setWindow} />
      {host !== null && (
        <Radio.Group value={scope} onChange={setScope} label="Affected hosts">
          <Group gap="md" mt={6}>
            <Radio value="host" label={host} />
            <Radio value="all" label="all hosts" />
          </Group>
        </Radio.Group>
      )}
      <NameField placeholder="Backup overran into the morning" value={name} onChange={setName} />
      <NoteField maxRows={8} value={note} onChange={setNote} />
    </FormDialog>
  );
}
