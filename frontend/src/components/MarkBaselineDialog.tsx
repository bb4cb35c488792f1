import { Button, Group, Modal, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { createBaseline } from "../api/endpoints";
import type { BaselineInfo } from "../logic/api";
import { describeDuration, lengthOf, toIso, type Window } from "../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../logic/zone";
import { ErrorLine } from "./StateView";

interface MarkBaselineDialogProps {
  readonly host: string;
  readonly window: Window;
  readonly zone: Zone;
  readonly onClose: () => void;
  readonly onDone: (baseline: BaselineInfo) => void;
}

/** Gives a window a name as something normal. */
export function MarkBaselineDialog({ host, window: marked, zone, onClose, onDone }: MarkBaselineDialogProps) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [note, setNote] = useState("");
  const marking = useMutation({
    mutationFn: () =>
      createBaseline({
        name,
        note,
        hosts: [host],
        windows: [{ start: toIso(marked.start), end: toIso(marked.end) }],
        time_zone: zone,
      }),
    onSuccess: (baseline) => {
      void client.invalidateQueries({ queryKey: ["baselines"] });
      onDone(baseline);
    },
  });
  return (
    <Modal opened onClose={onClose} title="Mark as baseline">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          marking.mutate();
        }}
      >
        <Stack gap="sm">
          <Text fz="sm">
            <b>{host}</b>, {formatWindow(zone, marked)} {zoneLabel(zone, marked.end)} ({describeDuration(lengthOf(marked))}) is
            what this host normally does. Later windows are compared with it.
          </Text>
          <TextInput
            label="Name"
            placeholder="Saturday morning, normal load"
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
            placeholder="What ran, and why this counts as normal"
            autosize
            minRows={2}
            maxRows={8}
            maxLength={10_000}
            value={note}
            onChange={(event) => {
              setNote(event.currentTarget.value);
            }}
          />
          <ErrorLine error={marking.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={marking.isPending} disabled={name.trim() === ""}>
              Mark as baseline
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
