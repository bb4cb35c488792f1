import { Checkbox, Group, MultiSelect, NumberInput, Select, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { savedComparisonsQuery } from "../../api/comparison";
import { experimentQuery, experimentsQuery } from "../../api/experiments";
import { artefactChoicesQuery, markdownQuery } from "../../api/reports";
import { hostsQuery, hostStatsQuery } from "../../api/queries";
import { WindowInputs } from "../../components/WindowInputs";
import { useSettled } from "../../components/useSettled";
import type { NoteContent } from "../../logic/api";
import { fromApi, toIso } from "../../logic/time";
import { FileField, type NoteOf } from "./FileField";
import { MomentInput } from "./MomentInput";
import { counted } from "../../logic/counted";

export interface NoteFormProps {
  readonly report: number;
  readonly note: NoteContent;
  readonly onChange: (note: NoteContent) => void;
}

/** The fields of a note: its title, what it shows, and a comment. */
export function NoteForm({ report, note, onChange }: NoteFormProps) {
  return (
    <>
      <TextInput
        label="Title"
        value={note.title}
        maxLength={300}
        onChange={(event) => {
          onChange({ ...note, title: event.currentTarget.value });
        }}
      />
      <Shown report={report} note={note} onChange={onChange} />
      {note.kind !== "text" && (
        <Textarea
          label="Comment (Markdown), printed below"
          autosize
          minRows={2}
          maxRows={10}
          value={note.comment}
          onChange={(event) => {
            onChange({ ...note, comment: event.currentTarget.value });
          }}
        />
      )}
    </>
  );
}

function Shown({ report, note, onChange }: NoteFormProps) {
  switch (note.kind) {
    case "text":
      return <MarkdownField note={note} onChange={onChange} />;
    case "graph":
      return <GraphFields note={note} onChange={onChange} />;
    case "comparison":
      return <ComparisonField note={note} onChange={onChange} />;
    case "artefact":
      return (
        <>
          <ArtefactSelect
            label="Artefact"
            value={note.artefact}
            onChange={(artefact) => {
              onChange({ ...note, artefact });
            }}
          />
          <Group align="end">
            <NumberInput
              label="Rows"
              w={120}
              min={1}
              max={200}
              value={note.limit}
              onChange={(limit) => {
                onChange({ ...note, limit: Number(limit) });
              }}
            />
            <FrozenBox note={note} onChange={onChange} />
          </Group>
        </>
      );
    case "artefact_diff":
      return (
        <>
          <ArtefactSelect
            label="Baseline"
            value={note.baseline}
            onChange={(baseline) => {
              onChange({ ...note, baseline });
            }}
          />
          <ArtefactSelect
            label="Incident"
            value={note.incident}
            onChange={(incident) => {
              onChange({ ...note, incident });
            }}
          />
        </>
      );
    case "experiment":
      return <ExperimentFields note={note} onChange={onChange} />;
    case "table":
      return (
        <Textarea
          label="Table as CSV"
          description="The first line is the head. Commas, semicolons or tabs between the values."
          autosize
          minRows={6}
          maxRows={18}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          value={note.csv}
          onChange={(event) => {
            onChange({ ...note, csv: event.currentTarget.value });
          }}
        />
      );
    case "image":
    case "file":
      return <FileField report={report} note={note} onChange={onChange} />;
    case "facts":
      return (
        <Group grow>
          <HostSelect
            value={note.host}
            onChange={(host) => {
              onChange({ ...note, host });
            }}
          />
          <MomentInput
            label="At (UTC)"
            value={note.at}
            onChange={(at) => {
              onChange({ ...note, at });
            }}
          />
        </Group>
      );
    case "events":
      return <EventFields note={note} onChange={onChange} />;
  }
}

function MarkdownField({ note, onChange }: { readonly note: NoteOf<"text">; readonly onChange: (note: NoteContent) => void }) {
  const shown = useQuery(markdownQuery(useSettled(note.markdown)));
  return (
    <div className="note-markdown">
      <Textarea
        label="Markdown"
        description="# Heading, **bold**, - list, | table |, [link](https://…)"
        autosize
        minRows={8}
        maxRows={24}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 13 } }}
        value={note.markdown}
        onChange={(event) => {
          onChange({ ...note, markdown: event.currentTarget.value });
        }}
      />
      <section aria-label="Preview">
        <div className="soft note-preview-title">Preview</div>
        {/* The server wrote it: every text escaped, no scripts, links checked (report/markdown.py). */}
        <div className="note-preview" dangerouslySetInnerHTML={{ __html: shown.data?.html ?? "" }} />
      </section>
    </div>
  );
}

function GraphFields({ note, onChange }: { readonly note: NoteOf<"graph">; readonly onChange: (note: NoteContent) => void }) {
  const stats = useQuery({ ...hostStatsQuery(note.host), enabled: note.host !== "" }).data?.stats ?? [];
  const fields = stats.find(({ name }) => name === note.stat)?.fields ?? [];
  return (
    <>
      <Group grow align="start">
        <HostSelect
          value={note.host}
          onChange={(host) => {
            onChange({ ...note, host });
          }}
        />
        <Select
          label="Stat"
          searchable
          data={note.stat === "" ? stats.map(({ name }) => name) : [...new Set([note.stat, ...stats.map(({ name }) => name)])]}
          value={note.stat === "" ? null : note.stat}
          onChange={(stat) => {
            onChange({ ...note, stat: stat ?? "", fields: [] });
          }}
        />
      </Group>
      <MultiSelect
        label="Fields"
        searchable
        data={[...new Set([...note.fields, ...fields.map(({ key }) => key)])]}
        value={[...note.fields]}
        onChange={(chosen) => {
          onChange({ ...note, fields: chosen });
        }}
      />
      <TagsInput
        label="Instances"
        description="Empty: all. Type a name and press Enter."
        value={[...note.instances]}
        onChange={(instances) => {
          onChange({ ...note, instances, top: null });
        }}
      />
      <WindowFields note={note} onChange={onChange} />
      <FrozenBox note={note} onChange={onChange} />
    </>
  );
}

function FrozenBox({
  note,
  onChange,
}: {
  readonly note: NoteOf<"graph" | "artefact" | "experiment">;
  readonly onChange: (note: NoteContent) => void;
}) {
  return (
    <Checkbox
      label="Keep the data of now in the report (else a link)"
      checked={note.is_frozen}
      onChange={(event) => {
        onChange({ ...note, is_frozen: event.currentTarget.checked });
      }}
    />
  );
}

function WindowFields({
  note,
  onChange,
}: {
  readonly note: NoteOf<"graph" | "events">;
  readonly onChange: (note: NoteContent) => void;
}) {
  // The inputs keep what is typed; a window that is not valid yet is none.
  const [first] = useState(note);
  return (
    <WindowInputs
      window={{ start: fromApi(first.start), end: fromApi(first.end) }}
      zone="UTC"
      onChange={(window) => {
        onChange(
          window === null ? { ...note, start: "", end: "" } : { ...note, start: toIso(window.start), end: toIso(window.end) },
        );
      }}
    />
  );
}

function HostSelect({ value, onChange }: { readonly value: string; readonly onChange: (host: string) => void }) {
  const hosts = useQuery(hostsQuery).data?.hosts ?? [];
  return (
    <Select
      label="Host"
      searchable
      data={[...new Set([...(value === "" ? [] : [value]), ...hosts.map(({ name }) => name)])]}
      value={value === "" ? null : value}
      onChange={(host) => {
        onChange(host ?? "");
      }}
    />
  );
}

function ComparisonField({
  note,
  onChange,
}: {
  readonly note: NoteOf<"comparison">;
  readonly onChange: (note: NoteContent) => void;
}) {
  const saved = useQuery(savedComparisonsQuery).data?.comparisons ?? [];
  return (
    <Select
      label="Saved comparison"
      description={
        note.inputs
          ? "A new comparison: it is run when you add it. Choose a saved one to replace it."
          : "Or paste the address of a comparison above."
      }
      searchable
      data={saved.map(({ id, name }) => ({ value: String(id), label: name }))}
      value={note.comparison ? String(note.comparison) : null}
      onChange={(id) => {
        onChange({ ...note, comparison: id === null ? null : Number(id), inputs: null });
      }}
    />
  );
}

function ArtefactSelect({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: number;
  readonly onChange: (id: number) => void;
}) {
  const found = useQuery(artefactChoicesQuery).data?.artefacts ?? [];
  const data = found.map((each) => ({
    value: String(each.id),
    label: `${String(each.id)} · ${each.host} · ${each.tool} · ${each.start.slice(0, 16)} · ${each.title || each.command || each.file_name}`,
  }));
  const known = data.some((each) => each.value === String(value));
  return (
    <Select
      label={label}
      searchable
      data={known || value === 0 ? data : [{ value: String(value), label: String(value) }, ...data]}
      value={value === 0 ? null : String(value)}
      nothingFoundMessage="No artefact fits. Upload one on the page Artefacts."
      onChange={(id) => {
        onChange(Number(id ?? 0));
      }}
    />
  );
}

/** The experiment, and which of its results by which factor; left empty, the usual ones. */
function ExperimentFields({
  note,
  onChange,
}: {
  readonly note: NoteOf<"experiment">;
  readonly onChange: (note: NoteContent) => void;
}) {
  const known = useQuery(experimentsQuery("")).data?.experiments ?? [];
  const chosen = useQuery({ ...experimentQuery(note.experiment), enabled: note.experiment > 0 }).data;
  const results = [...new Set((chosen?.runs ?? []).flatMap((run) => run.results.map(({ name }) => name)))];
  const factors = chosen?.experiment.factors ?? [];
  const choice = (label: string, key: "result" | "factor" | "variant", names: readonly string[]) => (
    <Select
      label={label}
      clearable
      placeholder="the usual one"
      data={[...new Set([...(note[key] ? [note[key]] : []), ...names])]}
      value={note[key] ?? null}
      onChange={(name) => {
        onChange({ ...note, [key]: name });
      }}
    />
  );
  return (
    <>
      <Select
        label="Experiment"
        searchable
        nothingFoundMessage="No experiment of that name. normstat run --experiment makes one."
        data={known.map(({ id, name, n_runs }) => ({ value: String(id), label: `${name} · ${counted(n_runs, "run")}` }))}
        value={note.experiment === 0 ? null : String(note.experiment)}
        onChange={(id) => {
          onChange({ ...note, experiment: Number(id ?? 0), result: null, factor: null, variant: null });
        }}
      />
      <Group grow align="start">
        {choice("Result", "result", results)}
        {choice("Factor", "factor", factors)}
        {choice("Lines by", "variant", factors)}
      </Group>
      <Group align="end">
        <NumberInput
          label="Runs in the table"
          w={120}
          min={0}
          max={200}
          value={note.limit}
          onChange={(limit) => {
            onChange({ ...note, limit: Number(limit) });
          }}
        />
        <FrozenBox note={note} onChange={onChange} />
      </Group>
    </>
  );
}

function EventFields({ note, onChange }: { readonly note: NoteOf<"events">; readonly onChange: (note: NoteContent) => void }) {
  const hosts = useQuery(hostsQuery).data?.hosts ?? [];
  return (
    <>
      <MultiSelect
        label="Hosts"
        searchable
        data={[...new Set([...note.hosts, ...hosts.map(({ name }) => name)])]}
        value={[...note.hosts]}
        onChange={(chosen) => {
          onChange({ ...note, hosts: chosen });
        }}
      />
      <WindowFields note={note} onChange={onChange} />
    </>
  );
}
