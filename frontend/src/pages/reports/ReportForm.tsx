import { Checkbox, TagsInput, TextInput } from "@mantine/core";
import { isNotEmpty } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { reportQuery, reportsQuery, updateReport } from "../../api/reports";
import { FormDialog } from "../../components/FormDialog";
import { nullable, useServerForm } from "../../components/useServerForm";
import { WindowInputs } from "../../components/WindowInputs";
import type { ReportInfo } from "../../logic/api";
import { fromApi, HOUR, toEpochMs, toIso, type Window } from "../../logic/time";
import { readNow } from "../../state/clock";
import { ConflictAlert } from "./ConflictAlert";

/** The title, hosts and window of a report. */
export function ReportForm({ report, onClose }: { readonly report: ReportInfo; readonly onClose: () => void }) {
  const client = useQueryClient();
  const [first] = useState(() => windowOf(report));
  const { form, submission } = useServerForm({
    initialValues: { title: report.title, hosts: report.hosts, hasWindow: report.start !== null, window: nullable(first) },
    validate: {
      title: isNotEmpty("Enter a title"),
      window: (window, { hasWindow }) => (hasWindow && window === null ? "Enter a window" : null),
    },
    send: ({ title, hosts, hasWindow, window }) => {
      const times = hasWindow && window !== null ? { start: toIso(window.start), end: toIso(window.end) } : NO_WINDOW;
      return updateReport({ ...report, title, hosts, ...times });
    },
    renews: [reportQuery(report.id).queryKey, reportsQuery.queryKey],
    onSaved: onClose,
  });
  return (
    <FormDialog {...submission} error={null} title="Title, hosts, window" onClose={onClose}>
      <TextInput label="Title" data-autofocus maxLength={300} {...form.getInputProps("title")} />
      <TagsInput label="Hosts" {...form.getInputProps("hosts")} />
      <Checkbox label="About a window of time" {...form.getInputProps("hasWindow", { type: "checkbox" })} />
      {form.values.hasWindow && <WindowInputs window={first} zone="UTC" {...form.getInputProps("window")} />}
      <ConflictAlert
        error={submission.error}
        onLoad={() => {
          void client.invalidateQueries({ queryKey: reportQuery(report.id).queryKey });
          onClose();
        }}
      />
    </FormDialog>
  );
}

const NO_WINDOW = { start: null, end: null };

/** The report's window; the last hour where it has none. */
function windowOf({ start, end }: ReportInfo): Window {
  const now = readNow();
  return { start: start === null ? toEpochMs(now - HOUR) : fromApi(start), end: end === null ? now : fromApi(end) };
}
