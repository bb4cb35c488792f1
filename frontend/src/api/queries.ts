/** The data layer: queries, their cache keys, and when they are refetched. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { withShownNames } from "../logic/against";
import { isActive } from "../logic/job";
import { isAnyRunning } from "../logic/storage";
import type { SharedSubject } from "../logic/share_link";
import { type EpochMs, toIso, type Window } from "../logic/time";
import { span } from "./addresses";
import { api, ApiError } from "./client";

const REFRESH_MS = 5_000;
const ACCOUNTS_MS = 10_000;
const PROGRESS_MS = 1_000;
const IDLE_MS = 30_000;

/**
 * Return whether a retry may help: not for a bad request, a missing right or a missing resource, but for an
 * unreachable server.
 */
export function isWorthRetrying(nFailures: number, error: Error): boolean {
  return nFailures < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500);
}

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => api.GET("/auth/me", { signal }),
  staleTime: 60_000,
});

export const healthQuery = queryOptions({
  queryKey: ["health"],
  queryFn: ({ signal }) => api.GET("/health", { signal }),
  staleTime: 600_000,
});

export const hostsQuery = queryOptions({
  queryKey: ["hosts"],
  queryFn: ({ signal }) => api.GET("/hosts", { signal }),
  refetchInterval: REFRESH_MS,
});

/** The fleet; while it is asked for again, or for another moment, the last answer stays. */
export function fleetQuery(at: EpochMs | null) {
  return queryOptions({
    queryKey: ["fleet", at],
    queryFn: ({ signal }) => api.GET("/fleet", { signal, params: { query: at === null ? {} : { at: toIso(at) } } }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data !== undefined && state.data.n_minutes_read < state.data.n_minutes
        ? PROGRESS_MS
        : at === null
          ? REFRESH_MS
          : false,
    staleTime: REFRESH_MS,
    gcTime: 60_000,
  });
}

export function hostQuery(host: string) {
  return queryOptions({
    queryKey: ["host", host],
    queryFn: ({ signal }) => api.GET("/hosts/{host}", { signal, params: { path: { host } } }),
    refetchInterval: REFRESH_MS,
  });
}

export function factsQuery(host: string) {
  return queryOptions({
    queryKey: ["facts", host],
    queryFn: ({ signal }) => api.GET("/hosts/{host}/facts", { signal, params: { path: { host } } }),
    refetchInterval: IDLE_MS,
  });
}

/** Events of a rounded window (logic/event.ts); while it moves, the marks stay. */
export function eventsQuery(host: string, window: Window) {
  return queryOptions({
    queryKey: ["events", host, window],
    queryFn: ({ signal }) => api.GET("/hosts/{host}/events", { signal, params: { path: { host }, query: span(window) } }),
    placeholderData: (previous, previousQuery) => (previousQuery?.queryKey[1] === host ? previous : undefined),
    staleTime: 60_000,
    gcTime: 60_000,
  });
}

/** Selects rejected lines of a host: all, those of a stream, or those with one reason. */
export interface RejectedQuery {
  readonly host: string;
  readonly streamId: number | null;
  readonly reason: string | null;
  readonly limit: number;
}

export function rejectedQuery(query: RejectedQuery) {
  const { host, streamId, reason, limit } = query;
  return queryOptions({
    queryKey: ["rejected", query],
    queryFn: ({ signal }) =>
      api.GET("/hosts/{host}/rejected", { signal, params: { path: { host }, query: { stream_id: streamId, reason, limit } } }),
    placeholderData: keepPreviousData,
  });
}

/** Selects streams of a host: one, or those that match a filter. */
export interface AccountsQuery {
  readonly host: string;
  readonly only: "rejected" | "outdated" | "lost" | null;
  readonly streamId: number | null;
  readonly limit: number;
}

export function accountsQuery(query: AccountsQuery) {
  const { host, only, streamId, limit } = query;
  return queryOptions({
    queryKey: ["accounts", query],
    queryFn: ({ signal }) =>
      api.GET("/hosts/{host}/accounts", { signal, params: { path: { host }, query: { only, stream_id: streamId, limit } } }),
    placeholderData: (previous, previousQuery) => {
      const before = previousQuery?.queryKey[1] as AccountsQuery | undefined;
      return before?.host === query.host && before.streamId === query.streamId ? previous : undefined;
    },
    // The server counts the reasons of all rejected lines on each request.
    refetchInterval: ACCOUNTS_MS,
  });
}

/** A position in a stream's raw output, with the number of lines before and after it. */
export interface ContextQuery {
  readonly streamId: number;
  readonly offset: number;
  readonly around: number;
}

/** The stored bytes of a stream never change. */
export function contextQuery(query: ContextQuery) {
  const { streamId, offset, around } = query;
  return queryOptions({
    queryKey: ["context", query],
    queryFn: ({ signal }) =>
      api.GET("/streams/{id}/context", {
        signal,
        params: { path: { id: streamId }, query: { offset, before: around, after: around } },
      }),
    placeholderData: (previous, previousQuery) => {
      const before = previousQuery?.queryKey[1] as ContextQuery | undefined;
      return before?.streamId === query.streamId && before.offset === query.offset ? previous : undefined;
    },
    staleTime: 60_000,
  });
}

/** Polled while a reparse runs. */
export const reparsesQuery = queryOptions({
  queryKey: ["reparses"],
  queryFn: ({ signal }) => api.GET("/reparses", { signal }),
  refetchInterval: ({ state }) => (state.data?.reparses.some(isActive) === true ? PROGRESS_MS : IDLE_MS),
});

export const jobsQuery = queryOptions({
  queryKey: ["jobs"],
  queryFn: ({ signal }) => api.GET("/jobs", { signal }),
  refetchInterval: ({ state }) => (state.data?.jobs.some(isActive) === true ? PROGRESS_MS : IDLE_MS),
});

/** The queries that a reparse invalidates. */
export const REPARSE_KEYS = [
  ["hosts"],
  ["fleet"],
  ["host"],
  ["accounts"],
  ["rejected"],
  ["specs"],
  ["series"],
  ["instances"],
] as const;

export const statsQuery = queryOptions({
  queryKey: ["stats"],
  queryFn: ({ signal }) => api.GET("/stats", { signal, params: { query: { host: null } } }),
  staleTime: 300_000,
});

/** The stats that a host sends: a twentieth of the catalogue. */
export function hostStatsQuery(host: string) {
  return queryOptions({
    queryKey: ["stats", host],
    queryFn: ({ signal }) => api.GET("/stats", { signal, params: { query: { host } } }),
    staleTime: 300_000,
  });
}

export function instancesQuery(host: string, stat: string, window: Window) {
  return queryOptions({
    queryKey: ["instances", host, stat, window],
    queryFn: ({ signal }) =>
      api.GET("/hosts/{host}/stats/{stat}/instances", { signal, params: { path: { host, stat }, query: span(window) } }),
    staleTime: 60_000,
  });
}

export function coverageQuery(host: string, window: Window, width: number) {
  return queryOptions({
    queryKey: ["coverage", host, window, width],
    queryFn: ({ signal }) =>
      api.GET("/hosts/{host}/coverage", { signal, params: { path: { host }, query: { ...span(window), width } } }),
    placeholderData: keepPreviousData,
    gcTime: 30_000,
  });
}

/** They change with the server's version only. */
export const referencesQuery = (host: string) =>
  queryOptions({
    queryKey: ["references", host],
    queryFn: ({ signal }) => api.GET("/references", { signal, params: { query: { host } } }),
    staleTime: 60_000,
  });

/** Measured by the server at most once a minute. */
export const storageQuery = queryOptions({
  queryKey: ["storage"],
  queryFn: ({ signal }) => api.GET("/storage", { signal }),
  refetchInterval: 60_000,
});

/** Polled while data is being deleted. */
export const retentionQuery = queryOptions({
  queryKey: ["retention"],
  queryFn: ({ signal }) => api.GET("/retention", { signal }),
  refetchInterval: ({ state }) => (isAnyRunning(state.data) ? PROGRESS_MS : IDLE_MS),
});

export const hostDeletionsQuery = queryOptions({
  queryKey: ["host-deletions"],
  queryFn: ({ signal }) => api.GET("/host-deletions", { signal }),
  refetchInterval: ({ state }) => (state.data?.deletions.some(isActive) === true ? PROGRESS_MS : IDLE_MS),
});

/** The queries that deleting a host invalidates. */
export const DELETION_KEYS = [["host-deletions"], ["hosts"], ["fleet"], ["host"], ["storage"], ["baselines"]] as const;

/** The list, which may be long; running imports are polled one by one. */
export const importsQuery = queryOptions({
  queryKey: ["imports"],
  queryFn: ({ signal }) => api.GET("/imports", { signal }),
  refetchInterval: IDLE_MS,
});

export function importQuery(id: number) {
  return queryOptions({
    queryKey: ["import", id],
    queryFn: ({ signal }) => api.GET("/imports/{id}", { signal, params: { path: { id } } }),
    refetchInterval: ({ state }) => (state.data !== undefined && isActive(state.data) ? PROGRESS_MS : false),
  });
}

export const specsQuery = queryOptions({ queryKey: ["specs"], queryFn: ({ signal }) => api.GET("/specs", { signal }) });

export function specQuery(spec: string) {
  return queryOptions({
    queryKey: ["specs", spec],
    queryFn: ({ signal }) => api.GET("/specs/{name}", { signal, params: { path: { name: spec } } }),
  });
}

export function previewQuery(toml: string, sample: string) {
  return queryOptions({
    queryKey: ["preview", toml, sample],
    queryFn: ({ signal }) => api.POST("/specs/preview", { signal, body: { toml, sample } }),
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 60_000,
  });
}

export function baselinesQuery(host: string | null) {
  return queryOptions({
    queryKey: ["baselines", host],
    queryFn: ({ signal }) => api.GET("/baselines", { signal, params: { query: { host } } }),
    select: withShownNames,
  });
}

export const viewsQuery = queryOptions({
  queryKey: ["views"],
  queryFn: ({ signal }) => api.GET("/views", { signal }),
  staleTime: 30_000,
});

export const installationQuery = queryOptions({
  queryKey: ["installation"],
  queryFn: ({ signal }) => api.GET("/doctor", { signal }),
  staleTime: 30_000,
  refetchOnWindowFocus: false,
});

export const shareLinksQuery = (of: SharedSubject) =>
  queryOptions({
    queryKey: ["share-links", of],
    queryFn: ({ signal }) => api.GET("/share-links", { params: { query: of }, signal }),
  });
