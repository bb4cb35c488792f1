/** The scores of a host by the continuous comparison. */

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
