import { Button, Group, Select, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { addNote, reportQuery } from "../../api/reports";
import { FormDialog } from "../../components/FormDialog";
import { useServerForm } from "../../components/useServerForm";
import { emptyNote, NOTE_KIND_LABELS, NOTE_KINDS, noteProblems, type NoteStart } from "../../logic/note";
import { parseLink } from "./link";
import { NoteForm } from "./NoteForm";

interface AddNoteProps {
  readonly report: number;
  readonly start: NoteStart;
  /** Where the note will stand, counted from 0. */
  readonly place: number;
  readonly onClose: () => void;
}

/** Adds a note: of a chosen kind, or what a pasted link of normstat shows. */
export function AddNote({ report, start, place, onClose }: AddNoteProps) {
  const client = useQueryClient();
  const { form, submission } = useServerForm({
    initialValues: { note: emptyNote("text", start), link: "" },
    validate: (values) => noteProblems(values.note),
    send: ({ note }) => addNote(report, note, place),
    onSaved: (details) => {
      client.setQueryData(reportQuery(report).queryKey, details);
      onClose();
    },
  });
  const { note } = form.values;
  return (
    <FormDialog {...submission} title="Add a note" size="xl" action="Add" onClose={onClose}>
      <Group grow align="start">
        <Select
          label="Kind"
          data={NOTE_KINDS.map((kind) => ({ value: kind, label: NOTE_KIND_LABELS[kind] }))}
          value={note.kind}
          allowDeselect={false}
          onChange={(kind) => {
            form.setFieldValue("note", { ...emptyNote(kind ?? "text", start), title: note.title });
          }}
        />
        <TextInput
          label="Or paste a link of normstat"
          placeholder="https://…/comparison?saved=1"
          {...form.getInputProps("link")}
          onChange={(event) => {
            const link = event.currentTarget.value;
            const found = link.trim() === "" ? note : parseLink(link);
            form.setValues({ link, note: typeof found === "string" ? note : found });
            form.setErrors(typeof found === "string" ? { link: found } : {});
          }}
        />
      </Group>
      <NoteForm report={report} form={form} />
    </FormDialog>
  );
}

/** The button between two notes. */
export function AddHere({ onClick }: { readonly onClick: () => void }) {
  return (
    <Button size="compact-xs" variant="subtle" className="no-print" onClick={onClick}>
      + note here
    </Button>
  );
}
