import { Button, Group, Select, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { addNote, reportQuery } from "../../api/reports";
import { FormDialog } from "../../components/FormDialog";
import { emptyNote, isComplete, NOTE_KIND_LABELS, NOTE_KINDS, type NoteStart } from "../../logic/note";
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
  const [note, setNote] = useState(() => emptyNote("text", start));
  const [link, setLink] = useState("");
  const [problem, setProblem] = useState("");
  const adding = useMutation({
    mutationFn: () => addNote(report, note, place),
    onSuccess: (details) => {
      client.setQueryData(reportQuery(report).queryKey, details);
      onClose();
    },
  });
  const paste = (text: string): void => {
    setLink(text);
    const found = text.trim() === "" ? "" : parseLink(text);
    if (typeof found === "string") {
      setProblem(found);
    } else {
      setProblem("");
      setNote(found);
    }
  };
  return (
    <FormDialog
      title="Add a note"
      size="xl"
      action="Add"
      isReady={isComplete(note)}
      isPending={adding.isPending}
      error={adding.error}
      onSubmit={() => {
        adding.mutate();
      }}
      onClose={onClose}
    >
      <Group grow align="start">
        <Select
          label="Kind"
          data={NOTE_KINDS.map((kind) => ({ value: kind, label: NOTE_KIND_LABELS[kind] }))}
          value={note.kind}
          allowDeselect={false}
          onChange={(kind) => {
            setNote({ ...emptyNote(kind ?? "text", start), title: note.title });
          }}
        />
        <TextInput
          label="Or paste a link of normstat"
          placeholder="https://…/comparison?saved=1"
          value={link}
          error={problem === "" ? null : problem}
          onChange={(event) => {
            paste(event.currentTarget.value);
          }}
        />
      </Group>
      <NoteForm report={report} note={note} onChange={setNote} />
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
