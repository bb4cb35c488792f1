/** Notes of reports: new ones, their order, and whether they are complete. Pure. */

import type { NoteContent, NoteKind } from "./api";
import type { PanelPlan } from "./panel";

// As in backend/normstat/report/note_models.py.
const MAX_FIELDS = 20;
const MAX_INSTANCES = 50;
const MAX_TOP = 24;

export const NOTE_KINDS: readonly NoteKind[] = [
  "text",
  "graph",
  "comparison",
  "artefact",
  "artefact_diff",
  "experiment",
  "table",
  "image",
  "file",
  "facts",
  "events",
];

export const NOTE_KIND_LABELS: Readonly<Record<NoteKind, string>> = {
  text: "Text",
  graph: "Graph",
  comparison: "Comparison",
  artefact: "Artefact",
  artefact_diff: "Difference of artefacts",
  experiment: "Experiment",
  table: "Table",
  image: "Image",
  file: "File",
  facts: "Host facts",
  events: "Events",
};

/** What a new note starts from: the report's hosts and window, or the last hour. */
export interface NoteStart {
  readonly host: string;
  readonly start: string;
  readonly end: string;
}

/** Return an empty note of a kind. An id of 0, or an empty name, is still to be chosen. */
export function emptyNote(kind: NoteKind, { host, start, end }: NoteStart): NoteContent {
  switch (kind) {
    case "text":
      return { kind, title: "", comment: "", markdown: "" };
    case "graph":
      return { kind, title: "", comment: "", host, stat: "", fields: [], instances: [], top: null, start, end, is_frozen: true };
    case "comparison":
      return { kind, title: "", comment: "", comparison: null, inputs: null };
    case "artefact":
      return { kind, title: "", comment: "", artefact: 0, part: null, limit: 20, is_frozen: true };
    case "artefact_diff":
      return { kind, title: "", comment: "", baseline: 0, incident: 0, limit: 20 };
    case "experiment":
      return experimentNote(0, { result: null, factor: null, variant: null, work: "fixed" });
    case "table":
      return { kind, title: "", comment: "", csv: "" };
    case "image":
      return { kind, title: "", comment: "", file: 0, share: 1 };
    case "file":
      return { kind, title: "", comment: "", file: 0 };
    case "facts":
      return { kind, title: "", comment: "", host, at: end };
    case "events":
      return { kind, title: "", comment: "", hosts: host === "" ? [] : [host], start, end };
  }
}

/** Return what a note still needs, by its field; empty if it is complete. */
export function noteProblems(note: NoteContent): Readonly<Record<string, string>> {
  const missing = (isMissing: boolean, field: string, what: string) => (isMissing ? { [`note.${field}`]: what } : {});
  switch (note.kind) {
    case "text":
      return missing(note.markdown.trim() === "" && note.title === "", "markdown", "Write a text or a title");
    case "graph":
      return {
        ...missing(note.host === "", "host", "Choose a host"),
        ...missing(note.stat === "", "stat", "Choose a stat"),
        ...missing(note.fields.length === 0, "fields", "Choose at least one field"),
        ...missing(note.start === "", "start", "Enter a window"),
      };
    case "comparison":
      return missing((note.comparison ?? null) === null && (note.inputs ?? null) === null, "comparison", "Choose a comparison");
    case "artefact":
      return missing(note.artefact === 0, "artefact", "Choose an artefact");
    case "experiment":
      return missing(note.experiment === 0, "experiment", "Choose an experiment");
    case "artefact_diff":
      return {
        ...missing(note.baseline === 0, "baseline", "Choose an artefact"),
        ...missing(note.incident === 0, "incident", "Choose an artefact"),
        ...missing(note.incident > 0 && note.incident === note.baseline, "incident", "Choose another artefact than the baseline"),
      };
    case "table":
      return missing(note.csv.trim() === "", "csv", "Enter a table");
    case "image":
    case "file":
      return missing(note.file === 0, "file", "Upload a file");
    case "facts":
      return { ...missing(note.host === "", "host", "Choose a host"), ...missing(note.at === "", "at", "Enter a time") };
    case "events":
      return {
        ...missing(note.hosts.length === 0, "hosts", "Choose at least one host"),
        ...missing(note.start === "", "start", "Enter a window"),
      };
  }
}

/** Return the ids with one moved to another place. */
export function moved(ids: readonly number[], id: number, place: number): readonly number[] {
  const others = ids.filter((each) => each !== id);
  const at = Math.max(0, Math.min(others.length, place));
  return [...others.slice(0, at), id, ...others.slice(at)];
}

/** What of an experiment is analysed. Null: the usual choice. */
export interface ExperimentChoice {
  readonly result: string | null;
  readonly factor: string | null;
  readonly variant: string | null;
  readonly work: "fixed" | "grows";
}

/** Return an experiment as a note. */
export function experimentNote(experiment: number, { result, factor, variant, work }: ExperimentChoice): NoteContent {
  return { kind: "experiment", title: "", comment: "", experiment, result, factor, variant, work, limit: 20, is_frozen: true };
}

/** Return a panel of a host's page as a note: the same series, of the window from `start` to `end`. */
export function graphNote(plan: PanelPlan, host: string, start: string, end: string): NoteContent {
  const { choice } = plan;
  const fields = choice.kind === "heatmap" ? [choice.field] : plan.fields.map(({ key }) => key);
  return {
    kind: "graph",
    title: plan.title,
    comment: "",
    host,
    stat: plan.stat.name,
    fields: fields.slice(0, MAX_FIELDS),
    instances: choice.kind === "only" ? choice.names.slice(0, MAX_INSTANCES) : [],
    top: choice.kind === "top" ? Math.min(choice.n, MAX_TOP) : null,
    start,
    end,
    is_frozen: true,
  };
}

/** Return a share of 0 to 1 as whole percent. */
export function toPercent(share: number): number {
  return Math.round(share * 100);
}
