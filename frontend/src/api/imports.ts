/** The routes of imports. */

import type { Import, ImportList, ImportUpdate, RetryRequest } from "../logic/api";
import { answered, client, upload } from "./client";
import type { Signal } from "./endpoints";

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

export function listImports(options: Signal): Promise<ImportList> {
  return answered(client.GET("/api/v1/imports", options));
}

/** Fetch one import with all its files; a list only has the first files of each. */
export function getImport(id: number, options: Signal): Promise<Import> {
  return answered(client.GET("/api/v1/imports/{id}", { ...options, params: { path: { id } } }));
}

/** Try one file of an import again, with what it lacked; the server still has the upload. */
export function retryImport(id: number, body: RetryRequest): Promise<Import> {
  return answered(client.POST("/api/v1/imports/{id}/retry", { params: { path: { id } }, body }));
}

/** Remove the samples that an import loaded. */
export function undoImport(id: number): Promise<Import> {
  return answered(client.POST("/api/v1/imports/{id}/undo", { params: { path: { id } } }));
}

/** Rename an import, move its samples to another host, or date them again; what is null stays. */
export function changeImport(id: number, body: ImportUpdate): Promise<Import> {
  return answered(client.PUT("/api/v1/imports/{id}", { params: { path: { id } }, body }));
}

/** Take back the last change of an import. */
export function undoImportChange(id: number): Promise<Import> {
  return answered(client.POST("/api/v1/imports/{id}/undo-change", { params: { path: { id } } }));
}

/** Stop a running import, or remove a finished one from the list; its samples are kept. */
export function deleteImport(id: number): Promise<unknown> {
  return answered(client.DELETE("/api/v1/imports/{id}", { params: { path: { id } } }));
}
