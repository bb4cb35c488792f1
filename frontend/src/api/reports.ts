/** Endpoints and queries of reports. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { NoteContent, ReportDetails, ReportFile, ReportInfo, ReportTemplate } from "../logic/api";
import { addressOf, answered, client, upload } from "./client";

export const reportsQuery = queryOptions({
  queryKey: ["reports"],
  queryFn: ({ signal }): Promise<{ reports: ReportInfo[] }> => answered(client.GET("/api/v1/reports", { signal })),
});

export const reportTemplatesQuery = queryOptions({
  queryKey: ["report-templates"],
  queryFn: ({ signal }): Promise<{ templates: ReportTemplate[] }> => answered(client.GET("/api/v1/report-templates", { signal })),
});

export function reportQuery(id: number) {
  return queryOptions({
    queryKey: ["report", id],
    queryFn: ({ signal }): Promise<ReportDetails> =>
      answered(client.GET("/api/v1/reports/{id}", { signal, params: { path: { id } } })),
  });
}

/** Markdown as the export shows it. */
export function markdownQuery(markdown: string) {
  return queryOptions({
    queryKey: ["report-markdown", markdown],
    queryFn: ({ signal }): Promise<{ html: string }> =>
      answered(client.POST("/api/v1/report-preview", { signal, body: { markdown } })),
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  });
}

export function createReport(title: string, template: string | null, hosts: readonly string[] = []): Promise<ReportDetails> {
  return answered(client.POST("/api/v1/reports", { body: { title, template, hosts: [...hosts] } }));
}

export function updateReport(report: ReportInfo): Promise<ReportInfo> {
  const { id, title, hosts, start, end, revision } = report;
  return answered(client.PUT("/api/v1/reports/{id}", { params: { path: { id } }, body: { title, hosts, start, end, revision } }));
}

export function deleteReport(id: number): Promise<unknown> {
  return answered(client.DELETE("/api/v1/reports/{id}", { params: { path: { id } } }));
}

export function saveAsTemplate(id: number, title: string): Promise<ReportInfo> {
  return answered(client.POST("/api/v1/reports/{id}/template", { params: { path: { id } }, body: { title } }));
}

export async function addNote(id: number, note: NoteContent, place: number | null = null): Promise<ReportDetails> {
  const added = await answered<{ details: ReportDetails }>(
    client.POST("/api/v1/reports/{id}/notes", { params: { path: { id } }, body: { note, place } }),
  );
  return added.details;
}

export function updateNote(
  id: number,
  note: number,
  body: { readonly revision: number; readonly note: NoteContent; readonly freeze: boolean },
): Promise<ReportDetails> {
  return answered(client.PUT("/api/v1/reports/{id}/notes/{note}", { params: { path: { id, note } }, body }));
}

export function deleteNote(id: number, note: number): Promise<ReportDetails> {
  return answered(client.DELETE("/api/v1/reports/{id}/notes/{note}", { params: { path: { id, note } } }));
}

export function restoreNote(id: number, note: number): Promise<ReportDetails> {
  return answered(client.POST("/api/v1/reports/{id}/notes/{note}/restore", { params: { path: { id, note } } }));
}

export function orderNotes(id: number, revision: number, notes: readonly number[]): Promise<ReportDetails> {
  return answered(client.PUT("/api/v1/reports/{id}/order", { params: { path: { id } }, body: { revision, notes: [...notes] } }));
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
  queryFn: ({ signal }) => answered(client.GET("/api/v1/artefacts", { signal, params: { query: { limit: 500 } } })),
});
