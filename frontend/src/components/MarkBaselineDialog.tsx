import { api } from "../api/client";
import { Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";

import { toNamedZone } from "../logic/host_zone";
import type { BaselineInfo } from "../logic/api";
import { describeDuration, lengthOf, toIso, type Window } from "../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../logic/zone";
import { NameField, NoteField } from "./NameAndNote";
import { FormDialog } from "./FormDialog";
import { undo } from "../state/undo";
import { nodes } from "./nodes";

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
  return hosts.length <= 3 ? hosts.join(", ") : `${hosts.slice(0, 2).join(", ")} and ${String(hosts.length - 2)} more hosts`;
}

/** Saves a window of one or more hosts as a baseline. */
export function MarkBaselineDialog({ hosts, window: marked, zone, onClose, onDone, children }: MarkBaselineDialogProps) {
  const client = useQueryClient();
  // As the window changes, until somebody writes a name.
  const [written, setName] = useState<string | null>(null);
  const named = nameHosts(hosts);
  const name = written ?? `Normal of ${named}, ${formatWindow(zone, marked)}`;
  const [note, setNote] = useState("");
  const marking = useMutation({
    mutationFn: () =>
      api.POST("/baselines", {
        body: {
          name,
          note,
          hosts: [...hosts],
          windows: [{ start: toIso(marked.start), end: toIso(marked.end) }],
          time_zone: toNamedZone(zone),
        },
      }),
    onSuccess: (baseline) => {
      void client.invalidateQueries({ queryKey: ["baselines"] });
      undo.say(`Saved the baseline ${baseline.name}`, null);
      onDone(baseline);
    },
  });
  return (
    <FormDialog
      title="Save as baseline"
      isReady={name.trim() !== ""}
      isPending={marking.isPending}
      error={marking.error}
      onSubmit={() => {
        marking.mutate();
      }}
      onClose={onClose}
    >
      <Text fz="sm">
        {nodes`${<b>{named}</b>}, ${formatWindow(zone, marked)} ${zoneLabel(zone, marked.end)} (${describeDuration(lengthOf(marked))}) will be used as normal behaviour when you compare other windows.`}
      </Text>
      {children}
      <NameField value={name} onChange={setName} />
      <NoteField placeholder="What was running, and why this is normal" maxRows={8} value={note} onChange={setNote} />
    </FormDialog>
  );
}
