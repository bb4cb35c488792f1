import { api } from "../api/client";
import { Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { toNamedZone } from "../logic/host_zone";
import type { BaselineInfo } from "../logic/api";
import { describeDuration, lengthOf, toIso, type Window } from "../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../logic/zone";
import { NameField, NoteField } from "./NameAndNote";
import { FormDialog } from "./FormDialog";
import { useServerForm } from "./useServerForm";
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
  const named = nameHosts(hosts);
  const suggested = `Normal of ${named}, ${formatWindow(zone, marked)}`;
  const { form, submission } = useServerForm({
    // Without a name yet it is the suggested one, which follows the window.
    initialValues: { name: null as string | null, note: "" },
    validate: { name: (text) => (text?.trim() === "" ? "Enter a name" : null) },
    send: ({ name, note }) =>
      api.POST("/baselines", {
        body: {
          name: name ?? suggested,
          note,
          hosts: [...hosts],
          windows: [{ start: toIso(marked.start), end: toIso(marked.end) }],
          time_zone: toNamedZone(zone),
        },
      }),
    onSaved: (baseline) => {
      void client.invalidateQueries({ queryKey: ["baselines"] });
      undo.say(`Saved the baseline ${baseline.name}`, null);
      onDone(baseline);
    },
  });
  return (
    <FormDialog {...submission} title="Save as baseline" onClose={onClose}>
      <Text fz="sm">
        {nodes`${<b>{named}</b>}, ${formatWindow(zone, marked)} ${zoneLabel(zone, marked.end)} (${describeDuration(lengthOf(marked))}) will be used as normal behaviour when you compare other windows.`}
      </Text>
      {children}
      <NameField {...form.getInputProps("name")} value={form.values.name ?? suggested} />
      <NoteField placeholder="What was running, and why this is normal" maxRows={8} {...form.getInputProps("note")} />
    </FormDialog>
  );
}
