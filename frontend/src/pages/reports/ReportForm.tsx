import { Checkbox, TagsInput, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { reportQuery, reportsQuery, updateReport } from "../../api/reports";
import { FormDialog } from "../../components/FormDialog";
import { WindowInputs } from "../../components/WindowInputs";
import type { ReportInfo } from "../../logic/api";
import { fromApi, HOUR, toEpochMs, toIso, type Window } from "../../logic/time";
import { readNow } from "../../state/clock";
import { ConflictAlert } from "./ConflictAlert";

/** The title, hosts and window of a report. */
export function ReportForm({ report, onClose }: { readonly report: ReportInfo; readonly onClose: () => void }) {
  const client = useQueryClient();
  const [draft, setDraft] = useState(report);
  const [first] = useState(() => windowOf(report));
  const [hasWindow, setHasWindow] = useState(report.start !== null);
  const [window, setWindow] = useState<Window | null>(first);
  const saving = useMutation({
    mutationFn: () =>
      updateReport({
        ...draft,
        start: hasWindow && window !== null ? toIso(window.start) : null,
        end: hasWindow && window !== null ? toIso(window.end) : null,
      }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: reportQuery(report.id).queryKey });
      await client.invalidateQueries({ queryKey: reportsQuery.queryKey });
      onClose();
    },
  });
  return (
    <FormDialog
      title="Title, hosts, window"
      isReady={draft.title.trim() !== "" && (!hasWindow || window !== null)}
      isPending={saving.isPending}
      onSubmit={() => {
        saving.mutate();
      }}
      onClose={onClose}
    >
      <TextInput
        label="Title"
        data-autofocus
        value={draft.title}
        maxLength={300}
        onChange={(event) => {
          setDraft({ ...draft, title: event.currentTarget.value });
        }}
      />
      <TagsInput
        label="Hosts"
        value={draft.hosts}
        onChange={(hosts) => {
          setDraft({ ...draft, hosts });
        }}
      />
      <Checkbox
        label="About a window of time"
        checked={hasWindow}
        onChange={(event) => {
          setHasWindow(event.currentTarget.checked);
        }}
      />
      {hasWindow && <WindowInputs window={first} zone="UTC" onChange={setWindow} />}
      <ConflictAlert
        error={saving.error}
        onLoad={() => {
          void client.invalidateQueries({ queryKey: reportQuery(report.id).queryKey });
          onClose();
        }}
      />
    </FormDialog>
  );
}

/** The report's window; the last hour where it has none. */
function windowOf({ start, end }: ReportInfo): Window {
  const now = readNow();
  return { start: start === null ? toEpochMs(now - HOUR) : fromApi(start), end: end === null ? now : fromApi(end) };
}
