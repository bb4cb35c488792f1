/** The scores of a host by the continuous comparison. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { ScoreHistory } from "../logic/api";
import type { Window } from "../logic/time";
import { answered, client } from "./client";
import { type Signal, span } from "./endpoints";

export function readScores(host: string, window: Window, options: Signal): Promise<ScoreHistory> {
  return answered(client.GET("/api/v1/hosts/{host}/scores", { ...options, params: { path: { host }, query: span(window) } }));
}

export function scoresQuery(host: string, window: Window) {
  return queryOptions({
    queryKey: ["scores", host, window],
    queryFn: ({ signal }) => readScores(host, window, { signal }),
    placeholderData: keepPreviousData,
    staleTime: 20_000,
    gcTime: 30_000,
  });
}
