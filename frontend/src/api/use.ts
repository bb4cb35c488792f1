/** The USE matrix of a host, and of all hosts; the status of a host by the rules. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { type EpochMs, toIso } from "../logic/time";
import { api } from "./client";

export function useMatrixQuery(host: string, at: EpochMs) {
  return queryOptions({
    queryKey: ["use", host, at],
    queryFn: ({ signal }) => api.GET("/hosts/{host}/use", { signal, params: { path: { host }, query: { at: toIso(at) } } }),
    placeholderData: keepPreviousData,
    gcTime: 30_000,
  });
}

export function hostStatusQuery(host: string, at: EpochMs) {
  return queryOptions({
    queryKey: ["status", host, at],
    queryFn: ({ signal }) => api.GET("/hosts/{host}/status", { signal, params: { path: { host }, query: { at: toIso(at) } } }),
    placeholderData: keepPreviousData,
    gcTime: 30_000,
  });
}

// A minute's means change slowly, and every screen that is open asks.
const FLEET_REFRESH_MS = 15_000;

export const fleetUseQuery = queryOptions({
  queryKey: ["use"],
  queryFn: ({ signal }) => api.GET("/use", { signal }),
  refetchInterval: FLEET_REFRESH_MS,
});
