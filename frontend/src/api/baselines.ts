/** Endpoints and queries for baselines: health, versions, recording, exclusions, host groups. */

import { queryOptions } from "@tanstack/react-query";
import type {
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
import { request } from "./client";

type Done = Record<string, never>;

const PROGRESS_MS = 1_500;
const IDLE_MS = 30_000;

function path(id: number, rest = ""): string {
  return `/baselines/${String(id)}${rest}`;
}

/** Active or archived baselines; polled while one is being recorded or profiled. */
export function baselineListQuery(which: "in-use" | "archived") {
  return queryOptions({
    queryKey: ["baselines", "list", which],
    queryFn: ({ signal }): Promise<BaselineList> =>
      request("GET", "/baselines", { signal, params: which === "archived" ? { archived: "true" } : {} }),
    refetchInterval: ({ state }) =>
      state.data?.baselines.some((baseline) => isInProgress(baseline, readNow())) === true ? PROGRESS_MS : IDLE_MS,
  });
}

/** Computed from all samples of the windows, so refetched only when needed. */
export function healthOfBaselineQuery(id: number, version: number) {
  return queryOptions({
    queryKey: ["baseline-health", id, version],
    queryFn: ({ signal }): Promise<BaselineHealth> => request("GET", path(id, "/health"), { signal }),
    staleTime: 300_000,
  });
}

export function versionsQuery(id: number, version: number) {
  return queryOptions({
    queryKey: ["baseline-versions", id, version],
    queryFn: ({ signal }): Promise<VersionList> => request("GET", path(id, "/versions"), { signal }),
  });
}

export function copyBaseline(id: number, name: string): Promise<BaselineInfo> {
  return request("POST", path(id, "/copy"), { body: { name } });
}

export function archiveBaseline(id: number, is_archived: boolean): Promise<BaselineInfo> {
  return request("POST", path(id, "/archive"), { body: { is_archived } });
}

/** Ends a recording; the part recorded so far becomes the baseline. */
export function stopRecording(id: number): Promise<BaselineInfo> {
  return request("DELETE", path(id, "/recording"));
}

// --- excluded periods ---

export const exclusionsQuery = queryOptions({
  queryKey: ["exclusions"],
  queryFn: ({ signal }): Promise<ExclusionList> => request("GET", "/exclusions", { signal }),
});

export function createExclusion(body: ExclusionCreate): Promise<ExclusionMade> {
  return request("POST", "/exclusions", { body });
}

export function deleteExclusion(id: number): Promise<Done> {
  return request("DELETE", `/exclusions/${String(id)}`);
}

/** The queries that an exclusion invalidates. */
export const EXCLUSION_KEYS = [["exclusions"], ["baselines"], ["baseline-health"], ["comparison"], ["band"]] as const;

// --- host groups ---

export const hostGroupsQuery = queryOptions({
  queryKey: ["host-groups"],
  queryFn: ({ signal }): Promise<HostGroupList> => request("GET", "/host-groups", { signal }),
});

export function createHostGroup(body: HostGroupCreate): Promise<HostGroupInfo> {
  return request("POST", "/host-groups", { body });
}

export function updateHostGroup(id: number, body: HostGroupUpdate): Promise<HostGroupInfo> {
  return request("PATCH", `/host-groups/${String(id)}`, { body });
}

export function deleteHostGroup(id: number): Promise<Done> {
  return request("DELETE", `/host-groups/${String(id)}`);
}
