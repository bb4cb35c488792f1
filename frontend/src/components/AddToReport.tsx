import { api } from "../api/client";
import { Button, Select, TextInput } from "@mantine/core";
import { IconReport } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { addNote, reportQuery, reportsQuery } from "../api/reports";
import type { NoteContent } from "../logic/api";
import { undo } from "../state/undo";
import { FormDialog } from "./FormDialog";
import { mayWrite, useMe } from "./me";
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
  const [chosen, setChosen] = useState<string | null>(null);
  const [title, setTitle] = useState(note.title);
  const [newTitle, setNewTitle] = useState("");
  // The one that was changed last is most likely meant.
  const report = chosen ?? (reports[0] === undefined ? NEW : String(reports[0].id));
  const adding = useMutation({
    mutationFn: async () => {
      const id =
        report === NEW
          ? (await api.POST("/reports", { body: { title: newTitle.trim(), template: null, hosts: [] } })).report.id
          : Number(report);
      return addNote(id, { ...note, title });
    },
    onSuccess: async (details) => {
      client.setQueryData(reportQuery(details.report.id).queryKey, details);
      await client.invalidateQueries({ queryKey: reportsQuery.queryKey });
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
  return (
    <FormDialog
      title="Add to report"
      action="Add"
      isReady={report !== NEW || newTitle.trim() !== ""}
      isPending={adding.isPending}
      error={adding.error}
      onSubmit={() => {
        adding.mutate();
      }}
      onClose={onClose}
    >
      <Select
        label="Report"
        allowDeselect={false}
        searchable
        data={[{ value: NEW, label: "New report" }, ...reports.map((each) => ({ value: String(each.id), label: each.title }))]}
        value={report}
        onChange={setChosen}
      />
      {report === NEW && (
        <TextInput
          label="Title of the report"
          value={newTitle}
          maxLength={300}
          onChange={(event) => {
            setNewTitle(event.currentTarget.value);
          }}
        />
      )}
      <TextInput
        label="Title of the note"
        data-autofocus
        value={title}
        maxLength={300}
        onChange={(event) => {
          setTitle(event.currentTarget.value);
        }}
      />
    </FormDialog>
  );
}
