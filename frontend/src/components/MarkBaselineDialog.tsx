import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { createBaseline } from "../api/baselines";
import type { BaselineInfo } from "../logic/api";
import { describeDuration, lengthOf, toIso, type Window } from "../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../logic/zone";
import { NameField, NoteField } from "./NameAndNote";
import { ErrorLine } from "./StateView";

interface MarkBaselineDialogProps {
  readonly hosts: readonly string[];
  readonly window: Window;
  readonly zone: Zone;
  readonly onClose: () => void;
  readonly onDone: (baseline: BaselineInfo) => void;
  /** Inputs that choose the window. */
  readonly children?: ReactNode;
}

/** Saves a window of one or more hosts as a baseline. */
export function MarkBaselineDialog({ hosts, window: marked, zone, onClose, onDone, children }: MarkBaselineDialogProps) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [note, setNote] = useState("");
  const marking = useMutation({
    mutationFn: () =>
      createBaseline({
        name,
        note,
        hosts: [...hosts],
        windows: [{ start: toIso(marked.start), end: toIso(marked.end) }],
        time_zone: zone,
      }),
    onSuccess: (baseline) => {
      void client.invalidateQueries({ queryKey: ["baselines"] });
      onDone(baseline);
    },
  });
  return (
    <Modal opened onClose={onClose} title="Save as baseline">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          marking.mutate();
        }}
      >
        <Stack gap="sm">
          <Text fz="sm">
            <b>
              {hosts.length <= 3
                ? hosts.join(", ")
                : `${hosts.slice(0, 2).join(", ")} and ${String(hosts.length - 2)} more hosts`}
            </b>
            , {formatWindow(zone, marked)} {zoneLabel(zone, marked.end)} ({describeDuration(lengthOf(marked))}) will be used as
            normal behaviour when you compare other windows.
          </Text>
          {children}
          <NameField placeholder="Saturday morning, normal load" value={name} onChange={setName} />
          <NoteField placeholder="What was running, and why this is normal" maxRows={8} value={note} onChange={setNote} />
          <ErrorLine error={marking.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={marking.isPending} disabled={name.trim() === ""}>
              Save{" "}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
