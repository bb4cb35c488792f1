import { Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { createBaseline } from "../api/baselines";
import { toNamedZone } from "../logic/host_zone";
import type { BaselineInfo } from "../logic/api";
import { describeDuration, lengthOf, toIso, type Window } from "../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../logic/zone";
import { NameField, NoteField } from "./NameAndNote";
import { FormDialog } from "./FormDialog";
import { undo } from "../state/undo";
import { words } from "../words";

interface MarkBaselineDialogProps {
  readonly hosts: readonly string[];
  readonly window: Window;
  readonly zone: Zone;
  readonly onClose: () => void;
  readonly onDone: (baseline: BaselineInfo) => void;
  /** Inputs that choose the window. */
  readonly children?: ReactNode;
}

function nameHosts(hosts: readonly string[]): string {
  return hosts.length <= 3
    ? hosts.join(", ")
    : words.components.markBaselineDialog.andMoreHosts(hosts.slice(0, 2).join(", "), String(hosts.length - 2));
}

/** Saves a window of one or more hosts as a baseline. */
export function MarkBaselineDialog({ hosts, window: marked, zone, onClose, onDone, children }: MarkBaselineDialogProps) {
  const client = useQueryClient();
  // As the window changes, until somebody writes a name.
  const [written, setName] = useState<string | null>(null);
  const named = nameHosts(hosts);
  const name = written ?? words.components.markBaselineDialog.normalOf(named, formatWindow(zone, marked));
  const [note, setNote] = useState("");
  const marking = useMutation({
    mutationFn: () =>
      createBaseline({
        name,
        note,
        hosts: [...hosts],
        windows: [{ start: toIso(marked.start), end: toIso(marked.end) }],
        time_zone: toNamedZone(zone),
      }),
    onSuccess: (baseline) => {
      void client.invalidateQueries({ queryKey: ["baselines"] });
      undo.say(words.components.markBaselineDialog.saved(baseline.name), null);
      onDone(baseline);
    },
  });
  return (
    <FormDialog
      title={words.components.markBaselineDialog.saveAsBaseline}
      isReady={name.trim() !== ""}
      isPending={marking.isPending}
      error={marking.error}
      onSubmit={() => {
        marking.mutate();
      }}
      onClose={onClose}
    >
      <Text fz="sm">
        {words.components.markBaselineDialog.willUsedNormalBehaviour(
          <b>{named}</b>,
          formatWindow(zone, marked),
          zoneLabel(zone, marked.end),
          describeDuration(lengthOf(marked)),
        )}
      </Text>
      {children}
      <NameField value={name} onChange={setName} />
      <NoteField
        placeholder={words.components.markBaselineDialog.whatRunningWhyNormal}
        maxRows={8}
        value={note}
        onChange={setNote}
      />
    </FormDialog>
  );
}
