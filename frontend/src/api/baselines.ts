/** Endpoints and queries for baselines: health, versions, recording, exclusions, host groups. */

import { queryOptions } from "@tanstack/react-query";
import type {
  BaselineCreate,
  BaselineUpdate,
  BaselineHealth,
  BaselineInfo,
  BaselineList,
  ExclusionCreate,
  ExclusionList,
  ExclusionMade,
  HostGroupCreate,
  HostGroupInfo,
  HostGroupList,
  HostGroupUpdate,
  VersionList,
} from "../logic/api";
import { isInProgress } from "../logic/baseline";
import { readNow } from "../state/clock";
import { answered, client } from "./client";

const PROGRESS_MS = 1_500;
const IDLE_MS = 30_000;

/** Active or archived baselines; polled while one is being recorded or profiled. */
export function baselineListQuery(which: "in-use" | "archived") {
  return queryOptions({
    queryKey: ["baselines", "list", which],
    queryFn: ({ signal }): Promise<BaselineList> =>
      answered(client.GET("/api/v1/baselines", { signal, params: { query: which === "archived" ? { archived: true } : {} } })),
    refetchInterval: ({ state }) =>
      state.data?.baselines.some((baseline) => isInProgress(baseline, readNow())) === true ? PROGRESS_MS : IDLE_MS,
  });
}

/** Computed from all samples of the windows, so refetched only when needed. */
export function healthOfBaselineQuery(id: number, version: number) {
  return queryOptions({
    queryKey: ["baseline-health", id, version],
    queryFn: ({ signal }): Promise<BaselineHealth> =>
      answered(client.GET("/api/v1/baselines/{id}/health", { signal, params: { path: { id } } })),
    staleTime: 300_000,
  });
}

export function versionsQuery(id: number, version: number) {
  return queryOptions({
    queryKey: ["baseline-versions", id, version],
    queryFn: ({ signal }): Promise<VersionList> =>
      answered(client.GET("/api/v1/baselines/{id}/versions", { signal, params: { path: { id } } })),
  });
}

export function copyBaseline(id: number, name: string): Promise<BaselineInfo> {
  return answered(client.POST("/api/v1/baselines/{id}/copy", { body: { name }, params: { path: { id } } }));
}

export function archiveBaseline(id: number, is_archived: boolean): Promise<BaselineInfo> {
  return answered(client.POST("/api/v1/baselines/{id}/archive", { body: { is_archived }, params: { path: { id } } }));
}

/** Ends a recording; the part recorded so far becomes the baseline. */
export function stopRecording(id: number): Promise<BaselineInfo> {
  return answered(client.DELETE("/api/v1/baselines/{id}/recording", { params: { path: { id } } }));
}

// --- excluded periods ---

export const exclusionsQuery = queryOptions({
  queryKey: ["exclusions"],
  queryFn: ({ signal }): Promise<ExclusionList> => answered(client.GET("/api/v1/exclusions", { signal })),
});

export function createExclusion(body: ExclusionCreate): Promise<ExclusionMade> {
  return answered(client.POST("/api/v1/exclusions", { body }));
}

export function deleteExclusion(id: number): Promise<unknown> {
  return answered(client.DELETE("/api/v1/exclusions/{id}", { params: { path: { id } } }));
}

/** The queries that an exclusion invalidates. */
export const EXCLUSION_KEYS = [["exclusions"], ["baselines"], ["baseline-health"], ["comparison"], ["band"]] as const;

// --- host groups ---

export const hostGroupsQuery = queryOptions({
  queryKey: ["host-groups"],
  queryFn: ({ signal }): Promise<HostGroupList> => answered(client.GET("/api/v1/host-groups", { signal })),
});

export function createHostGroup(body: HostGroupCreate): Promise<HostGroupInfo> {
  return answered(client.POST("/api/v1/host-groups", { body }));
}

export function updateHostGroup(id: number, body: HostGroupUpdate): Promise<HostGroupInfo> {
  return answered(client.PATCH("/api/v1/host-groups/{id}", { body, params: { path: { id } } }));
}

export function deleteHostGroup(id: number): Promise<unknown> {
  return answered(client.DELETE("/api/v1/host-groups/{id}", { params: { path: { id } } }));
}

export function createBaseline(body: BaselineCreate): Promise<BaselineInfo> {
  return answered(client.POST("/api/v1/baselines", { body }));
}

export function updateBaseline(id: number, body: BaselineUpdate): Promise<BaselineInfo> {
  return answered(client.PATCH("/api/v1/baselines/{id}", { body, params: { path: { id } } }));
}

export function deleteBaseline(id: number): Promise<unknown> {
  return answered(client.DELETE("/api/v1/baselines/{id}", { params: { path: { id } } }));
}
