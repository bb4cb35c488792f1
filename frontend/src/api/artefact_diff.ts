/** Queries of the diff of two artefacts, and of what follows from one. */

import { queryOptions } from "@tanstack/react-query";
import type { Normalisation } from "../logic/artefact_diff";
import { addressOf, api } from "./client";

/** What is compared, and how; null and empty members: as the server finds best. */
export interface DiffQuery {
  readonly before: number;
  readonly after: number;
  readonly pair: number | null;
  readonly column: string | null;
  readonly group: readonly string[];
  readonly normalisation: Normalisation | null;
  readonly search: string;
  readonly queueLimit: number | null;
}

function paramsOf({ before, after, pair, column, group, normalisation, search, queueLimit }: DiffQuery) {
  return {
    before,
    after,
    ...(pair === null ? {} : { pair }),
    ...(column === null ? {} : { column }),
    ...(group.length === 0 ? {} : { group: [...group] }),
    ...(normalisation === null ? {} : { normalisation }),
    ...(search.trim() === "" ? {} : { search }),
    ...(queueLimit === null ? {} : { queue_limit: queueLimit }),
  };
}

/** While the same two are compared otherwise, the last rows stay. */
export function artefactDiffQuery(query: DiffQuery, offset: number, limit: number) {
  const { before, after } = query;
  return queryOptions({
    queryKey: ["artefact-diff", before, after, query, offset, limit],
    queryFn: ({ signal }) => api.GET("/artefacts/diff", { signal, params: { query: { ...paramsOf(query), offset, limit } } }),
    placeholderData: (previous, previousQuery) =>
      previousQuery?.queryKey[1] === before && previousQuery.queryKey[2] === after ? previous : undefined,
    staleTime: 60_000,
  });
}

/** Return the URL of the diff as CSV. */
export function artefactDiffCsvAddress(query: DiffQuery): string {
  return addressOf("/artefacts/diff.csv", paramsOf(query));
}

export function artefactAnswersQuery(id: number) {
  return queryOptions({
    queryKey: ["artefact-answers", id],
    queryFn: ({ signal }) => api.GET("/artefacts/{id}/answers", { signal, params: { path: { id } } }),
    staleTime: 30_000,
  });
}
