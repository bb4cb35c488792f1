/** Queries of artefacts. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Artefact } from "../logic/api";
import type { ArtefactEffect } from "../logic/artefact";
import { type EpochMs, toIso } from "../logic/time";
import { addressOf, api, upload } from "./client";

const REFRESH_MS = 30_000;

/** Which artefacts a list shows; all words must be there. */
export interface ArtefactFilter {
  readonly hosts: readonly string[];
  readonly tools: readonly string[];
  readonly search: string;
  readonly start: EpochMs | null;
  readonly end: EpochMs | null;
}

/** A page of artefacts, newest first. */
export function artefactListQuery(filter: ArtefactFilter, offset: number, limit: number) {
  const { hosts, tools, search, start, end } = filter;
  return queryOptions({
    queryKey: ["artefact-list", filter, offset, limit],
    queryFn: ({ signal }) =>
      api.GET("/artefacts", {
        signal,
        params: {
          query: {
            host: [...hosts],
            tool: [...tools],
            ...(search.trim() === "" ? {} : { search }),
            ...(start === null ? {} : { start: toIso(start) }),
            ...(end === null ? {} : { end: toIso(end) }),
            offset,
            limit,
          },
        },
      }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

export function artefactQuery(id: number) {
  return queryOptions({
    queryKey: ["artefact", id],
    queryFn: ({ signal }) => api.GET("/artefacts/{id}", { signal, params: { path: { id } } }),
  });
}

/** Rows of a table part. */
export interface TableQuery {
  readonly id: number;
  readonly part: number;
  readonly order: string | null;
  readonly group: readonly string[];
  readonly search: string;
  readonly report: number | null;
  readonly offset: number;
  readonly limit: number;
}

/** While a table is ranked or searched otherwise, its last rows stay. */
export function artefactTableQuery(query: TableQuery) {
  const { id, part, order, group, search, report, offset, limit } = query;
  return queryOptions({
    queryKey: ["artefact-part", id, part, query],
    queryFn: ({ signal }) =>
      api.GET("/artefacts/{id}/parts/{part}/table", {
        signal,
        params: {
          path: { id, part },
          query: {
            ...(order === null ? {} : { order }),
            ...(group.length === 0 ? {} : { group: [...group] }),
            ...(search.trim() === "" ? {} : { search }),
            ...(report === null ? {} : { report }),
            offset,
            limit,
          },
        },
      }),
    placeholderData: (previous, previousQuery) =>
      previousQuery?.queryKey[1] === id && previousQuery.queryKey[2] === part ? previous : undefined,
    staleTime: 60_000,
  });
}

export function artefactHistogramQuery(id: number, part: number) {
  return queryOptions({
    queryKey: ["artefact-part", id, part],
    queryFn: ({ signal }) => api.GET("/artefacts/{id}/parts/{part}/histogram", { signal, params: { path: { id, part } } }),
    staleTime: 60_000,
  });
}

/** A page of the raw text, which never changes. */
export function artefactTextQuery(id: number, offset: number) {
  return queryOptions({
    queryKey: ["artefact-text", id, offset],
    queryFn: ({ signal }) => api.GET("/artefacts/{id}/text", { signal, params: { path: { id }, query: { offset } } }),
    placeholderData: (previous, previousQuery) => (previousQuery?.queryKey[1] === id ? previous : undefined),
    staleTime: Infinity,
  });
}

/** What people say of a text when they keep it; the empty members are found out from the text. */
export interface ArtefactSettings {
  readonly host: string;
  readonly title: string;
  readonly question: string;
  readonly command: string;
  readonly start: EpochMs | null;
  readonly end: EpochMs | null;
  readonly spec: string | null;
  readonly effect: ArtefactEffect | null;
  readonly zone: string | null;
  /** When the file was last changed: the time of a text without one. */
  readonly taken: EpochMs | null;
}

export function createArtefact(
  { host, title, question, command, start, end, spec, effect, zone, taken }: ArtefactSettings,
  chosen: { readonly name: string; readonly file: Blob },
  onProgress: (n_sent: number) => void,
  signal: AbortSignal,
): Promise<Artefact> {
  const params = {
    host,
    name: chosen.name,
    title,
    question,
    command,
    start: start === null ? null : toIso(start),
    end: end === null ? null : toIso(end),
    spec,
    effect,
    zone,
    taken: taken === null ? null : toIso(taken),
    source: "upload",
  };
  return upload("/artefacts", params, chosen.file, onProgress, signal);
}

/** Return the URL of the raw text. */
export function artefactRawAddress(id: number): string {
  return addressOf(`/artefacts/${String(id)}/raw`);
}

/** Return the URL of a whole table part as CSV. */
export function artefactCsvAddress(id: number, part: number): string {
  return addressOf(`/artefacts/${String(id)}/parts/${String(part)}/table.csv`);
}

/** The queries that a change of an artefact invalidates: it is an event of its host, too. */
export const ARTEFACT_KEYS = [["artefact-list"], ["artefact"], ["artefact-part"], ["events"], ["event-list"]] as const;

/** A column of a table part with several reports as lines over time, those with the largest values first. */
export function artefactIntervalsQuery(id: number, part: number, column: string, limit: number) {
  return queryOptions({
    queryKey: ["artefact-intervals", id, part, column, limit],
    queryFn: ({ signal }) =>
      api.GET("/artefacts/{id}/parts/{part}/intervals", { signal, params: { path: { id, part }, query: { column, limit } } }),
    placeholderData: keepPreviousData,
  });
}
