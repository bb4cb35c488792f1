import {
  Checkbox,
  Group,
  MultiSelect,
  NumberInput,
  Select,
  type SelectProps,
  TagsInput,
  Textarea,
  TextInput,
} from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
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
import { FileField } from "./FileField";
import { MomentInput } from "./MomentInput";
import { counted } from "../../logic/counted";

/** A note of one kind. */
export type NoteOf<K extends NoteContent["kind"]> = Extract<NoteContent, { kind: K }>;

export interface NoteFormProps {
  readonly report: number;
  readonly form: UseFormReturnType<{ readonly note: NoteContent }>;
}

export interface FieldsProps<K extends NoteContent["kind"]> extends Pick<NoteFormProps, "form"> {
  readonly note: NoteOf<K>;
}

const CODE = { input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 13 } };

/** The fields of a note: its title, what it shows, and a comment. */
export function NoteForm({ report, form }: NoteFormProps) {
  return (
    <>
      <TextInput label="Title" maxLength={300} {...form.getInputProps("note.title")} />
      <Shown report={report} form={form} />
      {form.values.note.kind !== "text" && (
        <Textarea
          label="Comment (Markdown), printed below"
          autosize
          minRows={2}
          maxRows={10}
          {...form.getInputProps("note.comment")}
        />
      )}
    </>
  );
}

function Shown({ report, form }: NoteFormProps) {
  const { note } = form.values;
  switch (note.kind) {
    case "text":
      return <MarkdownField note={note} form={form} />;
    case "graph":
      return <GraphFields note={note} form={form} />;
    case "comparison":
      return <ComparisonField note={note} form={form} />;
    case "artefact":
      return (
        <>
          <ArtefactSelect label="Artefact" chosen={note.artefact} {...form.getInputProps("note.artefact")} />
          <Group align="end">
            <NumberInput label="Rows" w={120} min={1} max={200} {...form.getInputProps("note.limit")} />
            <FrozenBox form={form} />
          </Group>
        </>
      );
    case "artefact_diff":
      return (
        <>
          <ArtefactSelect label="Baseline" chosen={note.baseline} {...form.getInputProps("note.baseline")} />
          <ArtefactSelect label="Incident" chosen={note.incident} {...form.getInputProps("note.incident")} />
        </>
      );
    case "experiment":
      return <ExperimentFields note={note} form={form} />;
    case "table":
      return (
        <Textarea
          label="Table as CSV"
          description="The first line is the head. Commas, semicolons or tabs between the values."
          autosize
          minRows={6}
          maxRows={18}
          styles={CODE}
          {...form.getInputProps("note.csv")}
        />
      );
    case "image":
    case "file":
      return <FileField report={report} note={note} form={form} />;
    case "facts":
      return (
        <Group grow>
          <HostSelect chosen={note.host} {...form.getInputProps("note.host")} />
          <MomentInput label="At (UTC)" {...form.getInputProps("note.at")} value={note.at} />
        </Group>
      );
    case "events":
      return <EventFields note={note} form={form} />;
  }
}

function MarkdownField({ note, form }: FieldsProps<"text">) {
  const shown = useQuery(markdownQuery(useSettled(note.markdown)));
  return (
    <div className="note-markdown">
      <Textarea
        label="Markdown"
        description="# Heading, **bold**, - list, | table |, [link](https://…)"
        autosize
        minRows={8}
        maxRows={24}
        styles={CODE}
        {...form.getInputProps("note.markdown")}
      />
      <section aria-label="Preview">
        <div className="soft note-preview-title">Preview</div>
        {/* The server wrote it: every text escaped, no scripts, links checked (report/markdown.py). */}
        <div className="note-preview" dangerouslySetInnerHTML={{ __html: shown.data?.html ?? "" }} />
      </section>
    </div>
  );
}

function GraphFields({ note, form }: FieldsProps<"graph">) {
  const stats = useQuery({ ...hostStatsQuery(note.host), enabled: note.host !== "" }).data?.stats ?? [];
  const fields = stats.find(({ name }) => name === note.stat)?.fields ?? [];
  return (
    <>
      <Group grow align="start">
        <HostSelect chosen={note.host} {...form.getInputProps("note.host")} />
        <Select
          label="Stat"
          searchable
          allowDeselect={false}
          data={note.stat === "" ? stats.map(({ name }) => name) : [...new Set([note.stat, ...stats.map(({ name }) => name)])]}
          {...form.getInputProps("note.stat")}
          onChange={(stat: string | null) => {
            form.setFieldValue("note", { ...note, stat: stat ?? "", fields: [] });
          }}
        />
      </Group>
      <MultiSelect
        label="Fields"
        searchable
        data={[...new Set([...note.fields, ...fields.map(({ key }) => key)])]}
        {...form.getInputProps("note.fields")}
      />
      <TagsInput
        label="Instances"
        description="Empty: all. Type a name and press Enter."
        {...form.getInputProps("note.instances")}
        onChange={(instances) => {
          form.setFieldValue("note", { ...note, instances, top: null });
        }}
      />
      <WindowFields note={note} form={form} />
      <FrozenBox form={form} />
    </>
  );
}

function FrozenBox({ form }: Pick<NoteFormProps, "form">) {
  return (
    <Checkbox
      label="Keep the data of now in the report (else a link)"
      {...form.getInputProps("note.is_frozen", { type: "checkbox" })}
    />
  );
}

function WindowFields({ note, form }: FieldsProps<"graph" | "events">) {
  // The inputs keep what is typed; a window that is not valid yet is none.
  const [first] = useState(note);
  return (
    <WindowInputs
      window={{ start: fromApi(first.start), end: fromApi(first.end) }}
      zone="UTC"
      {...form.getInputProps("note.start")}
      onChange={(window) => {
        const times = window === null ? { start: "", end: "" } : { start: toIso(window.start), end: toIso(window.end) };
        form.setFieldValue("note", { ...note, ...times });
      }}
    />
  );
}

function HostSelect({ chosen, ...props }: SelectProps & { readonly chosen: string }) {
  const hosts = useQuery(hostsQuery).data?.hosts ?? [];
  const names = [...new Set([...(chosen === "" ? [] : [chosen]), ...hosts.map(({ name }) => name)])];
  return <Select label="Host" searchable allowDeselect={false} data={names} {...props} />;
}

function ComparisonField({ note, form }: FieldsProps<"comparison">) {
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
      data={saved.map(({ id, name }) => ({ value: id, label: name }))}
      {...form.getInputProps("note.comparison")}
      onChange={(comparison: number | null) => {
        form.setFieldValue("note", { ...note, comparison, inputs: null });
      }}
    />
  );
}

function ArtefactSelect({ chosen, ...props }: SelectProps<number> & { readonly chosen: number }) {
  const found = useQuery(artefactChoicesQuery).data?.artefacts ?? [];
  const data = found.map((each) => ({
    value: each.id,
    label: `${String(each.id)} · ${each.host} · ${each.tool} · ${each.start.slice(0, 16)} · ${each.title || each.command || each.file_name}`,
  }));
  const isKnown = chosen === 0 || data.some(({ value }) => value === chosen);
  return (
    <Select
      searchable
      allowDeselect={false}
      data={isKnown ? data : [{ value: chosen, label: String(chosen) }, ...data]}
      nothingFoundMessage="No artefact matches. Import one on the page Import."
      {...props}
    />
  );
}

/** The experiment, and which of its results by which factor; left empty, the usual ones. */
function ExperimentFields({ note, form }: FieldsProps<"experiment">) {
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
      {...form.getInputProps(`note.${key}`)}
    />
  );
  return (
    <>
      <Select
        label="Experiment"
        searchable
        allowDeselect={false}
        nothingFoundMessage="No experiment of that name. normstat run --experiment makes one."
        data={known.map(({ id, name, n_runs }) => ({ value: id, label: `${name} · ${counted(n_runs, "run")}` }))}
        {...form.getInputProps("note.experiment")}
        onChange={(experiment: number | null) => {
          form.setFieldValue("note", { ...note, experiment: experiment ?? 0, result: null, factor: null, variant: null });
        }}
      />
      <Group grow align="start">
        {choice("Result", "result", results)}
        {choice("Factor", "factor", factors)}
        {choice("Lines by", "variant", factors)}
      </Group>
      <Group align="end">
        <NumberInput label="Runs in the table" w={120} min={0} max={200} {...form.getInputProps("note.limit")} />
        <FrozenBox form={form} />
      </Group>
    </>
  );
}

function EventFields({ note, form }: FieldsProps<"events">) {
  const hosts = useQuery(hostsQuery).data?.hosts ?? [];
  return (
    <>
      <MultiSelect
        label="Hosts"
        searchable
        data={[...new Set([...note.hosts, ...hosts.map(({ name }) => name)])]}
        {...form.getInputProps("note.hosts")}
      />
      <WindowFields note={note} form={form} />
    </>
  );
}
