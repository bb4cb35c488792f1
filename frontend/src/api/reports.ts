/** Queries of reports. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { NoteContent, ReportDetails, ReportFile, ReportInfo } from "../logic/api";
import { addressOf, api, upload } from "./client";

export const reportsQuery = queryOptions({ queryKey: ["reports"], queryFn: ({ signal }) => api.GET("/reports", { signal }) });

export const reportTemplatesQuery = queryOptions({
  queryKey: ["report-templates"],
  queryFn: ({ signal }) => api.GET("/report-templates", { signal }),
});

export function reportQuery(id: number) {
  return queryOptions({
    queryKey: ["report", id],
    queryFn: ({ signal }) => api.GET("/reports/{id}", { signal, params: { path: { id } } }),
  });
}

/** Markdown as the export shows it. */
export function markdownQuery(markdown: string) {
  return queryOptions({
    queryKey: ["report-markdown", markdown],
    queryFn: ({ signal }) => api.POST("/report-preview", { signal, body: { markdown } }),
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  });
}

export function updateReport(report: ReportInfo): Promise<ReportInfo> {
  const { id, title, hosts, start, end, revision } = report;
  return api.PUT("/reports/{id}", { params: { path: { id } }, body: { title, hosts, start, end, revision } });
}

export async function addNote(id: number, note: NoteContent, place: number | null = null): Promise<ReportDetails> {
  const added = await api.POST("/reports/{id}/notes", { params: { path: { id } }, body: { note, place } });
  return added.details;
}

export function updateNote(
  id: number,
  note: number,
  body: { readonly revision: number; readonly note: NoteContent; readonly freeze: boolean },
): Promise<ReportDetails> {
  return api.PUT("/reports/{id}/notes/{note}", { params: { path: { id, note } }, body });
}

export function uploadReportFile(report: number, file: File, isImage: boolean): Promise<ReportFile> {
  const params = { report, name: file.name, image: String(isImage) };
  return upload("/report-files", params, file, () => undefined, new AbortController().signal);
}

export function reportExport(id: number, kind: "html" | "pdf", isSaved = false): string {
  return addressOf(`/reports/${String(id)}/export.${kind}`, isSaved ? { download: "true" } : {});
}

export function reportFileAddress(id: number): string {
  return addressOf(`/report-files/${String(id)}`);
}

/** The newest artefacts, to choose from. */
export const artefactChoicesQuery = queryOptions({
  queryKey: ["artefact-choices"],
  queryFn: ({ signal }) => api.GET("/artefacts", { signal, params: { query: { limit: 500 } } }),
});
