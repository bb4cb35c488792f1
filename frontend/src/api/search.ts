/** The search of the palette: its route and its cache. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { SearchKind } from "../logic/api";
import { api } from "./client";

export interface SearchQuery {
  readonly query: string;
  readonly host: string | null;
  /** Only these kinds; empty for all. */
  readonly kinds: readonly SearchKind[];
}

/** While a query is typed, the hits of the one before it stay. */
export function searchQuery(query: SearchQuery) {
  const { query: q, host, kinds } = query;
  return queryOptions({
    queryKey: ["search", query],
    queryFn: ({ signal }) => api.GET("/search", { signal, params: { query: { q, host, kind: [...kinds] } } }),
    enabled: q.trim() !== "",
    placeholderData: keepPreviousData,
    staleTime: 10_000,
    gcTime: 60_000,
  });
}
