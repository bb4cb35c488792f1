/** Bodies of the API whose server side is being built: by hand until `npm run gen` has them. */

export type JobState = "waiting" | "running" | "done" | "failed" | "stopped";

export interface ReparseCreate {
  host?: string;
  stream_id?: number;
  spec?: string;
}

export interface Reparse {
  id: number;
  host: string | null;
  stream_id: number | null;
  spec: string | null;
  state: JobState;
  message: string;
  n_streams: number;
  n_streams_done: number;
  n_bytes: number;
  n_bytes_done: number;
  n_samples_before: number;
  n_samples_after: number;
  n_rejected_after: number;
  created_at: string;
  created_by: string;
  finished_at: string | null;
}

export interface ReparseList {
  reparses: Reparse[];
}

export interface SpecInfo {
  name: string;
  title: string;
  tool: string;
  os: string;
  version: number;
  is_builtin: boolean;
  stats: string[];
  n_streams: number;
  n_streams_outdated: number;
}

export interface SpecList {
  specs: SpecInfo[];
}

export interface SpecDetail extends SpecInfo {
  toml: string;
}

export interface SpecDraftRequest {
  name: string;
  tool?: string;
  command?: string;
  sample: string;
  shape: "single" | "multi";
  instance_column?: string;
}

export interface DraftColumn {
  key: string;
  column: string;
  kind: string;
  unit: string;
  decimals: number;
}

export interface SpecDraft {
  toml: string;
  columns: DraftColumn[];
}

export interface PreviewRow {
  stat: string;
  time: string | null;
  instance: string;
  values: Record<string, number | string | null>;
}

export interface PreviewRejectedLine {
  line_no: number;
  text: string;
  reason: string;
}

export interface SpecPreview {
  rows: PreviewRow[];
  rejected: PreviewRejectedLine[];
  n_lines: Record<string, number>;
  n_rows: number;
  n_rejected: number;
}
