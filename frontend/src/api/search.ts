/** The search of the palette: its route and its cache. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { SearchAnswer, SearchKind } from "../logic/api";
import { answered, client } from "./client";
import type { Signal } from "./endpoints";

export interface SearchQuery {
  readonly query: string;
  readonly host: string | null;
  /** Only these kinds; empty for all. */
  readonly kinds: readonly SearchKind[];
}

function search({ query, host, kinds }: SearchQuery, options: Signal): Promise<SearchAnswer> {
  return answered(client.GET("/api/v1/search", { ...options, params: { query: { q: query, host, kind: [...kinds] } } }));
}

/** While a query is typed, the hits of the one before it stay. */
export function searchQuery(query: SearchQuery) {
  return queryOptions({
    queryKey: ["search", query],
    queryFn: ({ signal }) => search(query, { signal }),
    enabled: query.query.trim() !== "",
    placeholderData: keepPreviousData,
    staleTime: 10_000,
    gcTime: 60_000,
  });
}
