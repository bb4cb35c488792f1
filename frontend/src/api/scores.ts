/** What the server knows of the sections of a host: how unusual they were, and which panels show nothing. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Window } from "../logic/time";
import { api } from "./client";
import { span } from "./addresses";

export function scoresQuery(host: string, window: Window) {
  return queryOptions({
    queryKey: ["scores", host, window],
    queryFn: ({ signal }) => api.GET("/hosts/{host}/scores", { signal, params: { path: { host }, query: span(window) } }),
    placeholderData: keepPreviousData,
    staleTime: 20_000,
    gcTime: 30_000,
  });
}

/** Which panels of a host show nothing in a window; asked for whole minutes, so that a live page asks once a minute. */
export function quietStatsQuery(host: string, window: Window) {
  return queryOptions({
    queryKey: ["quiet-stats", host, window],
    queryFn: ({ signal }) => api.GET("/hosts/{host}/quiet-stats", { signal, params: { path: { host }, query: span(window) } }),
    placeholderData: (previous, previousQuery) => (previousQuery?.queryKey[1] === host ? previous : undefined),
    staleTime: 60_000,
    gcTime: 60_000,
  });
}
