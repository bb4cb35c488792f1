/** Queries of baselines: health, versions, recording, exclusions, host groups. */

import { queryOptions } from "@tanstack/react-query";
import { isInProgress } from "../logic/baseline";
import { readNow } from "../state/clock";
import { api } from "./client";

const PROGRESS_MS = 1_500;
const IDLE_MS = 30_000;

/** Active or archived baselines; polled while one is being recorded or profiled. */
export function baselineListQuery(which: "in-use" | "archived") {
  return queryOptions({
    queryKey: ["baselines", "list", which],
    queryFn: ({ signal }) => api.GET("/baselines", { signal, params: { query: which === "archived" ? { archived: true } : {} } }),
    refetchInterval: ({ state }) =>
      state.data?.baselines.some((baseline) => isInProgress(baseline, readNow())) === true ? PROGRESS_MS : IDLE_MS,
  });
}

/** Computed from all samples of the windows, so refetched only when needed. */
export function healthOfBaselineQuery(id: number, version: number) {
  return queryOptions({
    queryKey: ["baseline-health", id, version],
    queryFn: ({ signal }) => api.GET("/baselines/{id}/health", { signal, params: { path: { id } } }),
    staleTime: 300_000,
  });
}

export function versionsQuery(id: number, version: number) {
  return queryOptions({
    queryKey: ["baseline-versions", id, version],
    queryFn: ({ signal }) => api.GET("/baselines/{id}/versions", { signal, params: { path: { id } } }),
  });
}

// --- excluded periods ---

export const exclusionsQuery = queryOptions({
  queryKey: ["exclusions"],
  queryFn: ({ signal }) => api.GET("/exclusions", { signal }),
});

/** The queries that an exclusion invalidates. */
export const EXCLUSION_KEYS = [["exclusions"], ["baselines"], ["baseline-health"], ["comparison"], ["band"]] as const;

// --- host groups ---

export const hostGroupsQuery = queryOptions({
  queryKey: ["host-groups"],
  queryFn: ({ signal }) => api.GET("/host-groups", { signal }),
});
