/** The routes of imports. */

import type { Import } from "../logic/api";
import { upload } from "./client";

/** The host of uploaded files, and time options that the files lack. */
export interface ImportSettings {
  readonly host: string;
  readonly zone?: string;
  readonly date?: string;
  readonly start?: string;
  readonly intervalS?: number;
  readonly spec?: string;
  readonly title?: string;
  readonly firstIsReal?: boolean;
  readonly eachHost?: boolean;
}

export function createImport(
  settings: ImportSettings,
  chosen: { readonly name: string; readonly file: Blob },
  onProgress: (n_sent: number) => void,
  signal: AbortSignal,
): Promise<Import> {
  const { host, zone, date, start, intervalS, spec, title, firstIsReal, eachHost } = settings;
  const params = {
    host,
    name: chosen.name,
    zone,
    date,
    start,
    interval_s: intervalS,
    spec,
    title,
    first_is_real: firstIsReal === true ? "true" : undefined,
    each_host: eachHost === true ? "true" : undefined,
  };
  return upload("/imports", params, chosen.file, onProgress, signal);
}
