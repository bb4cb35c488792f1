/** Queries of watching: what is on, episodes, rules, backtests, mutes. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { isActive } from "../logic/job";
import { type EpochMs, toIso, type Window } from "../logic/time";
import { api } from "./client";
import { span } from "./addresses";

// As often as the server judges what arrived.
const REFRESH_MS = 10_000;
const PROGRESS_MS = 1_000;

export const watchQuery = queryOptions({
  queryKey: ["watch", "now"],
  queryFn: ({ signal }) => api.GET("/watch", { signal }),
  refetchInterval: REFRESH_MS,
});

/** How much is on, in short, now or at a moment; all parts of the page share one request. */
export function openNowQuery(at: EpochMs | null) {
  const query = at === null ? {} : { at: toIso(at) };
  return queryOptions({
    queryKey: ["watch", "open", at],
    queryFn: ({ signal }) => api.GET("/watch/open", { signal, params: { query } }),
    placeholderData: keepPreviousData,
    refetchInterval: at === null ? REFRESH_MS : false,
    staleTime: REFRESH_MS / 2,
  });
}

const MAX_OF_HOST = 500;

/** The episodes of a host that overlap a window, the latest first. */
export function hostEpisodesQuery(host: string, window: Window) {
  const query = { host, start: toIso(window.start), end: toIso(window.end), limit: MAX_OF_HOST };
  return queryOptions({
    queryKey: ["watch", "host", query],
    queryFn: ({ signal }) => api.GET("/episodes", { signal, params: { query } }),
    placeholderData: keepPreviousData,
  });
}

export function timelineQuery(window: Window, source: string | null) {
  const query = { ...span(window), ...(source === null ? {} : { source }) };
  return queryOptions({
    queryKey: ["watch", "timeline", query],
    queryFn: ({ signal }) => api.GET("/watch/timeline", { signal, params: { query } }),
    placeholderData: keepPreviousData,
  });
}

export const rulesQuery = queryOptions({
  queryKey: ["watch", "rules"],
  queryFn: ({ signal }) => api.GET("/rules", { signal }),
  refetchInterval: REFRESH_MS,
});

export function ruleQuery(rule: string) {
  return queryOptions({
    queryKey: ["watch", "rule", rule],
    queryFn: ({ signal }) => api.GET("/rules/{rule}", { signal, params: { path: { rule } } }),
  });
}

export function backtestsQuery(rule: string) {
  return queryOptions({
    queryKey: ["watch", "backtests", rule],
    queryFn: ({ signal }) => api.GET("/backtests", { signal, params: { query: { rule } } }),
    refetchInterval: ({ state }) => (state.data?.backtests.some(isActive) === true ? PROGRESS_MS : false),
  });
}

export function backtestQuery(id: number) {
  return queryOptions({
    queryKey: ["watch", "backtest", id],
    queryFn: ({ signal }) => api.GET("/backtests/{id}", { signal, params: { path: { id } } }),
    refetchInterval: ({ state }) => (state.data === undefined || isActive(state.data) ? PROGRESS_MS : false),
  });
}

export const watchMutesQuery = queryOptions({
  queryKey: ["watch", "mutes"],
  queryFn: ({ signal }) => api.GET("/watch/mutes", { signal }),
  refetchInterval: REFRESH_MS,
});
