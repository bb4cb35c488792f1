/** The routes of imports. */

import type { FileLook, Import } from "../logic/api";
import { type EpochMs, toIso } from "../logic/time";
import { upload } from "./client";

/** The host of uploaded files, and time options that the files lack. */
export interface ImportSettings {
  readonly host: string;
  readonly zone?: string;
  readonly date?: string;
  readonly start?: EpochMs;
  readonly intervalS?: number;
  readonly spec?: string;
  readonly title?: string;
  readonly firstIsReal?: boolean;
  readonly eachHost?: boolean;
  readonly modifiedAt?: EpochMs | null;
}

export function createImport(
  settings: ImportSettings,
  chosen: { readonly name: string; readonly file: Blob },
  onProgress: (n_sent: number) => void,
  signal: AbortSignal,
): Promise<Import> {
  const { host, zone, date, start, intervalS, spec, title, firstIsReal, eachHost, modifiedAt } = settings;
  const params = {
    host,
    name: chosen.name,
    zone,
    date,
    start: start === undefined ? undefined : toIso(start),
    interval_s: intervalS,
    spec,
    title,
    modified_at: modifiedAt === undefined || modifiedAt === null ? undefined : toIso(modifiedAt),
    first_is_real: firstIsReal === true ? "true" : undefined,
    each_host: eachHost === true ? "true" : undefined,
  };
  return upload("/imports", params, chosen.file, onProgress, signal);
}

// The server's limit; ingest/imports/look_ahead.py.
const MAX_LOOK_BYTES = 262_144;

/** Ask what a file is; its first bytes are enough. */
export function lookAtFile(chosen: { readonly name: string; readonly file: Blob }, signal: AbortSignal): Promise<FileLook> {
  return upload("/imports/look", { name: chosen.name }, chosen.file.slice(0, MAX_LOOK_BYTES), () => undefined, signal);
}
