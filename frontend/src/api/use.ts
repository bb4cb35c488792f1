/** The USE matrix of a host, and of all hosts; the status of a host by the rules. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { FleetUse, HostStatus, UseMatrix } from "../logic/api";
import { type EpochMs, toIso } from "../logic/time";
import { answered, client } from "./client";
import type { Signal } from "./endpoints";

export function readUseMatrix(host: string, at: EpochMs, options: Signal): Promise<UseMatrix> {
  return answered(client.GET("/api/v1/hosts/{host}/use", { ...options, params: { path: { host }, query: { at: toIso(at) } } }));
}

export function useMatrixQuery(host: string, at: EpochMs) {
  return queryOptions({
    queryKey: ["use", host, at],
    queryFn: ({ signal }) => readUseMatrix(host, at, { signal }),
    placeholderData: keepPreviousData,
    gcTime: 30_000,
  });
}

export function hostStatusQuery(host: string, at: EpochMs) {
  return queryOptions({
    queryKey: ["status", host, at],
    queryFn: ({ signal }): Promise<HostStatus> =>
      answered(client.GET("/api/v1/hosts/{host}/status", { signal, params: { path: { host }, query: { at: toIso(at) } } })),
    placeholderData: keepPreviousData,
    gcTime: 30_000,
  });
}

// A minute's means change slowly, and every screen that is open asks.
const FLEET_REFRESH_MS = 15_000;

export const fleetUseQuery = queryOptions({
  queryKey: ["use"],
  queryFn: ({ signal }): Promise<FleetUse> => answered(client.GET("/api/v1/use", { signal })),
  refetchInterval: FLEET_REFRESH_MS,
});
