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

/** Return whether all that a note needs is chosen. */
export function isComplete(note: NoteContent): boolean {
  switch (note.kind) {
    case "text":
      return note.markdown.trim() !== "" || note.title !== "";
    case "graph":
      return note.host !== "" && note.stat !== "" && note.fields.length > 0 && note.start !== "";
    case "comparison":
      return (note.comparison ?? null) !== null || (note.inputs ?? null) !== null;
    case "artefact":
      return note.artefact > 0;
    case "experiment":
      return note.experiment > 0;
    case "artefact_diff":
      return note.baseline > 0 && note.incident > 0 && note.baseline !== note.incident;
    case "table":
      return note.csv.trim() !== "";
    case "image":
    case "file":
      return note.file > 0;
    case "facts":
      return note.host !== "" && note.at !== "";
    case "events":
      return note.hosts.length > 0 && note.start !== "";
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
