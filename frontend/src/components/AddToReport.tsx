import { api } from "../api/client";
import { Button, Select, TextInput } from "@mantine/core";
import { IconReport } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { addNote, reportQuery, reportsQuery } from "../api/reports";
import type { NoteContent } from "../logic/api";
import { undo } from "../state/undo";
import { FormDialog } from "./FormDialog";
import { mayWrite, useMe } from "./me";
import { useServerForm } from "./useServerForm";

const NEW = "new";

/** A button that adds what is shown to a report. Missing: nothing for those who may not write. */
export function AddToReport({ note, size = "sm" }: { readonly note: NoteContent; readonly size?: "xs" | "sm" }) {
  const [isOpen, setOpen] = useState(false);
  if (!mayWrite(useMe())) {
    return null;
  }
  return (
    <>
      <Button
        variant="default"
        size={size}
        leftSection={<IconReport size={14} />}
        onClick={() => {
          setOpen(true);
        }}
      >
        Add to report
      </Button>
      {isOpen && (
        <AddToReportDialog
          note={note}
          onClose={() => {
            setOpen(false);
          }}
        />
      )}
    </>
  );
}

/** Chooses the report, or starts one, and adds the note at its end. */
export function AddToReportDialog({ note, onClose }: { readonly note: NoteContent; readonly onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const reports = useQuery(reportsQuery).data?.reports ?? [];
  // The one that was changed last is most likely meant.
  const usual = reports[0] === undefined ? NEW : String(reports[0].id);
  const { form, submission } = useServerForm({
    initialValues: { report: null as string | null, newTitle: "", title: note.title },
    validate: { newTitle: (text, { report }) => ((report ?? usual) === NEW && text.trim() === "" ? "Enter a title" : null) },
    send: async ({ report, newTitle, title }) => {
      const chosen = report ?? usual;
      const id =
        chosen === NEW
          ? (await api.POST("/reports", { body: { title: newTitle.trim(), template: null, hosts: [] } })).report.id
          : Number(chosen);
      return addNote(id, { ...note, title });
    },
    renews: [reportsQuery.queryKey],
    onSaved: (details) => {
      client.setQueryData(reportQuery(details.report.id).queryKey, details);
      onClose();
      undo.say(
        `Added to ${details.report.title}`,
        () => {
          void navigate({ to: "/reports/$report", params: { report: String(details.report.id) }, search: {} });
        },
        "Open",
      );
    },
  });
  const report = form.values.report ?? usual;
  return (
    <FormDialog {...submission} title="Add to report" action="Add" onClose={onClose}>
      <Select
        label="Report"
        allowDeselect={false}
        searchable
        data={[{ value: NEW, label: "New report" }, ...reports.map((each) => ({ value: String(each.id), label: each.title }))]}
        {...form.getInputProps("report")}
        value={report}
      />
      {report === NEW && <TextInput label="Title of the report" maxLength={300} {...form.getInputProps("newTitle")} />}
      <TextInput label="Title of the note" data-autofocus maxLength={300} {...form.getInputProps("title")} />
    </FormDialog>
  );
}
