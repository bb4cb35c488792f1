import { api } from "../../api/client";
import { ActionIcon, Badge, Button, Group, Menu, Paper, Text, Title } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconDots, IconGripVertical } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { reportFileAddress, reportQuery, updateNote } from "../../api/reports";
import type { NoteContent, ReportNote } from "../../logic/api";
import { NOTE_KIND_LABELS, noteProblems } from "../../logic/note";
import { useServerForm } from "../../components/useServerForm";
import { undo } from "../../state/undo";
import { ConflictAlert } from "./ConflictAlert";
import { NoteForm } from "./NoteForm";

interface NoteCardProps {
  readonly report: number;
  readonly note: ReportNote;
  readonly place: number;
  readonly n: number;
  readonly mayEdit: boolean;
  readonly onMove: (id: number, place: number) => void;
  readonly onDragged: (id: number | null) => void;
}

/** A note of a report: what it shows in a line, its form while it is edited, and what can be done with it. */
export function NoteCard({ report, note, place, n, mayEdit, onMove, onDragged }: NoteCardProps) {
  const client = useQueryClient();
  const [isEdited, setEdited] = useState(false);
  const { queryKey } = reportQuery(report);
  const freezing = useMutation({
    mutationFn: () => updateNote(report, note.id, { revision: note.revision, note: note.note, freeze: true }),
    onSuccess: (details) => {
      client.setQueryData(queryKey, details);
    },
  });
  const removing = useMutation({
    mutationFn: () => api.DELETE("/reports/{id}/notes/{note}", { params: { path: { id: report, note: note.id } } }),
    onSuccess: (details) => {
      client.setQueryData(queryKey, details);
      undo.say("Deleted the note", () => {
        void api
          .POST("/reports/{id}/notes/{note}/restore", { params: { path: { id: report, note: note.id } } })
          .then((restored) => {
            client.setQueryData(queryKey, restored);
          });
      });
    },
  });
  const content = note.note;
  const title = content.title ? content.title : NOTE_KIND_LABELS[content.kind];
  return (
    <Paper
      component="article"
      withBorder
      p="sm"
      className="note-card"
      aria-label={title}
      onDragOver={(event) => {
        event.preventDefault();
      }}
    >
      <Group justify="space-between" wrap="nowrap" align="start">
        <Group gap="xs" wrap="nowrap" className="note-head">
          {mayEdit && (
            <span
              className="note-grip"
              draggable
              title="Drag to move"
              onDragStart={() => {
                onDragged(note.id);
              }}
              onDragEnd={() => {
                onDragged(null);
              }}
            >
              <IconGripVertical size={16} aria-hidden />
            </span>
          )}
          <Title order={2} fz="md">
            {title}
          </Title>
          <Badge variant="light" color="gray">
            {NOTE_KIND_LABELS[content.kind]}
          </Badge>
        </Group>
        {mayEdit && (
          <Group gap={4} wrap="nowrap" className="no-print">
            <ActionIcon
              aria-label={`Move ${title} up`}
              disabled={place === 0}
              onClick={() => {
                onMove(note.id, place - 1);
              }}
            >
              <IconArrowUp size={15} />
            </ActionIcon>
            <ActionIcon
              aria-label={`Move ${title} down`}
              disabled={place === n - 1}
              onClick={() => {
                onMove(note.id, place + 1);
              }}
            >
              <IconArrowDown size={15} />
            </ActionIcon>
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => {
                setEdited(!isEdited);
              }}
            >
              {isEdited ? "Cancel" : "Edit"}
            </Button>
            <Menu position="bottom-end">
              <Menu.Target>
                <ActionIcon aria-label={`Menu of ${title}`}>
                  <IconDots size={15} />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                {note.frozen_at !== null && (
                  <Menu.Item
                    onClick={() => {
                      freezing.mutate();
                    }}
                  >
                    Refresh its data
                  </Menu.Item>
                )}
                <Menu.Item
                  color="red"
                  onClick={() => {
                    removing.mutate();
                  }}
                >
                  Delete
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </Group>
        )}
      </Group>
      {isEdited ? (
        <NoteEditor
          report={report}
          note={note}
          onClose={() => {
            setEdited(false);
          }}
        />
      ) : (
        <Told content={content} note={note} />
      )}
      <ConflictAlert
        error={freezing.error ?? removing.error}
        onLoad={() => {
          void client.invalidateQueries({ queryKey });
          freezing.reset();
          removing.reset();
        }}
      />
    </Paper>
  );
}

interface NoteEditorProps extends Pick<NoteCardProps, "report" | "note"> {
  readonly onClose: () => void;
}

function NoteEditor({ report, note: { id, revision, note }, onClose }: NoteEditorProps) {
  const client = useQueryClient();
  const { queryKey } = reportQuery(report);
  const { form, submission } = useServerForm({
    initialValues: { note },
    validate: (values) => noteProblems(values.note),
    send: (values) => updateNote(report, id, { ...values, revision, freeze: false }),
    onSaved: (details) => {
      client.setQueryData(queryKey, details);
      onClose();
    },
  });
  return (
    <form className="note-form" onSubmit={submission.onSubmit}>
      <NoteForm report={report} form={form} />
      <ConflictAlert
        error={submission.error}
        onLoad={() => {
          void client.invalidateQueries({ queryKey });
          onClose();
        }}
      />
      <Group justify="flex-end" mt="sm">
        <Button type="submit" loading={submission.isPending}>
          Save
        </Button>
      </Group>
    </form>
  );
}

/** What a note shows, in a line or two. */
function Told({ content, note }: { readonly content: NoteContent; readonly note: ReportNote }) {
  return (
    <>
      {content.kind === "text" || content.kind === "table" ? (
        <pre className="note-text">{(content.kind === "text" ? content.markdown : content.csv).slice(0, 1500)}</pre>
      ) : content.kind === "image" ? (
        <img className="note-image" src={reportFileAddress(content.file)} alt={content.title} />
      ) : (
        <Text fz="sm" className="soft">
          {describe(content)}
        </Text>
      )}
      <Text fz="xs" className="soft">
        {note.frozen_at !== null && `Data frozen ${note.frozen_at.slice(0, 19).replace("T", " ")} UTC · `}
        {`changed by ${note.updated_by}, ${note.updated_at.slice(0, 16).replace("T", " ")} UTC`}
      </Text>
    </>
  );
}

function describe(content: NoteContent): string {
  switch (content.kind) {
    case "graph":
      return `${content.host} ${content.stat} ${content.fields.join(", ")} · ${content.start} – ${content.end}`;
    case "comparison":
      return content.comparison ? `Saved comparison ${String(content.comparison)}` : "Comparison run for this report";
    case "artefact":
      return `Artefact ${String(content.artefact)}`;
    case "artefact_diff":
      return `Artefact ${String(content.baseline)} against artefact ${String(content.incident)}`;
    case "experiment":
      return `Experiment ${String(content.experiment)}`;
    case "facts":
      return `${content.host} · ${content.at}`;
    case "events":
      return `${content.hosts.join(", ")} · ${content.start} – ${content.end}`;
    case "file":
    case "image":
      return `File ${String(content.file)}`;
    case "text":
    case "table":
      return "";
  }
}
