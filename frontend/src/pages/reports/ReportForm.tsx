import { Group, TagsInput, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { reportQuery, reportsQuery, updateReport } from "../../api/reports";
import { FormDialog } from "../../components/FormDialog";
import type { ReportInfo } from "../../logic/api";
import { words } from "../../words";

/** The title, hosts and window of a report. */
export function ReportForm({ report, onClose }: { readonly report: ReportInfo; readonly onClose: () => void }) {
  const client = useQueryClient();
  const [draft, setDraft] = useState(report);
  const saving = useMutation({
    mutationFn: () => updateReport(draft),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: reportQuery(report.id).queryKey });
      await client.invalidateQueries({ queryKey: reportsQuery.queryKey });
      onClose();
    },
  });
  return (
    <FormDialog
      title={words.reports.reportPage.titleAndWindow}
      isReady={draft.title.trim() !== ""}
      isPending={saving.isPending}
      error={saving.error}
      onSubmit={() => {
        saving.mutate();
      }}
      onClose={onClose}
    >
      <TextInput
        label={words.reports.noteForm.title}
        data-autofocus
        value={draft.title}
        maxLength={300}
        onChange={(event) => {
          setDraft({ ...draft, title: event.currentTarget.value });
        }}
      />
      <TagsInput
        label={words.common.hosts}
        value={draft.hosts}
        onChange={(hosts) => {
          setDraft({ ...draft, hosts });
        }}
      />
      <Group grow>
        <TextInput
          label={words.reports.noteForm.from}
          placeholder="2026-11-21T10:00:00Z"
          value={draft.start ?? ""}
          onChange={(event) => {
            const start = event.currentTarget.value.trim();
            setDraft({ ...draft, start: start === "" ? null : start });
          }}
        />
        <TextInput
          label={words.reports.noteForm.to}
          placeholder="2026-11-21T10:10:00Z"
          value={draft.end ?? ""}
          onChange={(event) => {
            const end = event.currentTarget.value.trim();
            setDraft({ ...draft, end: end === "" ? null : end });
          }}
        />
      </Group>
    </FormDialog>
  );
}
