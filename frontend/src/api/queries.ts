/** The data layer: queries, their cache keys, and when they are refetched. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { withShownNames } from "../logic/against";
import { isActive } from "../logic/job";
import { isAnyRunning } from "../logic/storage";
import type { EpochMs, Window } from "../logic/time";
import { readNow } from "../state/clock";
import * as endpoints from "./endpoints";
import { listJoinTokens } from "./join_tokens";
import * as imports from "./imports";
import { ApiError } from "./client";
import { listReferences } from "./references";

const REFRESH_MS = 5_000;
const ACCOUNTS_MS = 10_000;
const SETTLED_MS = 30_000;
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
  queryFn: ({ signal }) => endpoints.getMe({ signal }),
  staleTime: 60_000,
});

export const healthQuery = queryOptions({
  queryKey: ["health"],
  queryFn: ({ signal }) => endpoints.getHealth({ signal }),
  staleTime: 600_000,
});

export const hostsQuery = queryOptions({
  queryKey: ["hosts"],
  queryFn: ({ signal }) => endpoints.listHosts({ signal }),
  refetchInterval: REFRESH_MS,
});

/** The fleet; while it is asked for again, or for another moment, the last answer stays. */
export function fleetQuery(at: EpochMs | null) {
  return queryOptions({
    queryKey: ["fleet", at],
    queryFn: ({ signal }) => endpoints.readFleet(at, { signal }),
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
    queryFn: ({ signal }) => endpoints.getHost(host, { signal }),
    refetchInterval: REFRESH_MS,
  });
}

export function factsQuery(host: string) {
  return queryOptions({
    queryKey: ["facts", host],
    queryFn: ({ signal }) => endpoints.readFacts(host, { signal }),
    refetchInterval: IDLE_MS,
  });
}

/** Events of a rounded window (logic/event.ts); while it moves, the marks stay. */
export function eventsQuery(host: string, window: Window) {
  return queryOptions({
    queryKey: ["events", host, window],
    queryFn: ({ signal }) => endpoints.readEvents(host, window, { signal }),
    placeholderData: (previous, previousQuery) => (previousQuery?.queryKey[1] === host ? previous : undefined),
    staleTime: 60_000,
    gcTime: 60_000,
  });
}

export function rejectedQuery(query: endpoints.RejectedQuery) {
  return queryOptions({
    queryKey: ["rejected", query],
    queryFn: ({ signal }) => endpoints.listRejectedLines(query, { signal }),
    placeholderData: keepPreviousData,
  });
}

export function accountsQuery(query: endpoints.AccountsQuery) {
  return queryOptions({
    queryKey: ["accounts", query],
    queryFn: ({ signal }) => endpoints.readAccounts(query, { signal }),
    placeholderData: (previous, previousQuery) => {
      const before = previousQuery?.queryKey[1] as endpoints.AccountsQuery | undefined;
      return before?.host === query.host && before.streamId === query.streamId ? previous : undefined;
    },
    // The server counts the reasons of all rejected lines on each request.
    refetchInterval: ACCOUNTS_MS,
  });
}

/** The stored bytes of a stream never change. */
export function contextQuery(query: endpoints.ContextQuery) {
  return queryOptions({
    queryKey: ["context", query],
    queryFn: ({ signal }) => endpoints.readContext(query, { signal }),
    placeholderData: (previous, previousQuery) => {
      const before = previousQuery?.queryKey[1] as endpoints.ContextQuery | undefined;
      return before?.streamId === query.streamId && before.offset === query.offset ? previous : undefined;
    },
    staleTime: 60_000,
  });
}

/** Polled while a reparse runs. */
export const reparsesQuery = queryOptions({
  queryKey: ["reparses"],
  queryFn: ({ signal }) => endpoints.listReparses({ signal }),
  refetchInterval: ({ state }) => (state.data?.reparses.some(isActive) === true ? PROGRESS_MS : IDLE_MS),
});

export const jobsQuery = queryOptions({
  queryKey: ["jobs"],
  queryFn: ({ signal }) => endpoints.listJobs({ signal }),
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
  queryFn: ({ signal }) => endpoints.listStats(null, { signal }),
  staleTime: 300_000,
});

/** The stats that a host sends: a twentieth of the catalogue. */
export function hostStatsQuery(host: string) {
  return queryOptions({
    queryKey: ["stats", host],
    queryFn: ({ signal }) => endpoints.listStats(host, { signal }),
    staleTime: 300_000,
  });
}

export function instancesQuery(host: string, stat: string, window: Window) {
  return queryOptions({
    queryKey: ["instances", host, stat, window],
    queryFn: ({ signal }) => endpoints.listInstances(host, stat, window, { signal }),
    staleTime: 60_000,
  });
}

export function coverageQuery(host: string, window: Window, width: number) {
  return queryOptions({
    queryKey: ["coverage", host, window, width],
    queryFn: ({ signal }) => endpoints.readCoverage(host, window, width, { signal }),
    placeholderData: keepPreviousData,
    gcTime: 30_000,
  });
}

/** The identity of a graph, independent of its window. */
function subjectOf({ host, stat, fields, choice }: Omit<endpoints.SeriesQuery, "width">): string {
  return JSON.stringify([host, stat, fields, choice]);
}

/** While a window moves, a graph keeps its previous data, but never that of another graph. */
export function seriesQuery(query: endpoints.SeriesQuery) {
  return queryOptions({
    queryKey: ["series", query],
    queryFn: ({ signal }) => endpoints.readSeries(query, { signal }),
    placeholderData: (previous, previousQuery) => {
      const before = previousQuery?.queryKey[1] as endpoints.SeriesQuery | undefined;
      return before !== undefined && subjectOf(before) === subjectOf(query) ? previous : undefined;
    },
    staleTime: 60_000,
    // The last samples of a window that just ended may still be in transit.
    refetchInterval: () => (readNow() - query.window.end < SETTLED_MS ? REFRESH_MS : false),
    gcTime: 30_000,
  });
}

/** They change with the server's version only. */
export const referencesQuery = (host: string) =>
  queryOptions({ queryKey: ["references", host], queryFn: ({ signal }) => listReferences(host, { signal }), staleTime: 60_000 });

/** Statistics of the same lines of another window stay until the new ones are there. */
export function statisticsQuery(query: endpoints.StatisticsQuery) {
  return queryOptions({
    queryKey: ["statistics", query],
    queryFn: ({ signal }) => endpoints.readStatistics(query, { signal }),
    placeholderData: (previous, previousQuery) => {
      const before = previousQuery?.queryKey[1] as endpoints.StatisticsQuery | undefined;
      return before !== undefined && subjectOf(before) === subjectOf(query) && query.against === null ? previous : undefined;
    },
    staleTime: 60_000,
    refetchInterval: () => (readNow() - query.window.end < SETTLED_MS ? REFRESH_MS : false),
    gcTime: 60_000,
  });
}

/** Measured by the server at most once a minute. */
export const storageQuery = queryOptions({
  queryKey: ["storage"],
  queryFn: ({ signal }) => endpoints.getStorage({ signal }),
  refetchInterval: 60_000,
});

/** Polled while data is being deleted. */
export const retentionQuery = queryOptions({
  queryKey: ["retention"],
  queryFn: ({ signal }) => endpoints.getRetention({ signal }),
  refetchInterval: ({ state }) => (isAnyRunning(state.data) ? PROGRESS_MS : IDLE_MS),
});

export const hostDeletionsQuery = queryOptions({
  queryKey: ["host-deletions"],
  queryFn: ({ signal }) => endpoints.listHostDeletions({ signal }),
  refetchInterval: ({ state }) => (state.data?.deletions.some(isActive) === true ? PROGRESS_MS : IDLE_MS),
});

/** The queries that deleting a host invalidates. */
export const DELETION_KEYS = [["host-deletions"], ["hosts"], ["fleet"], ["host"], ["storage"], ["baselines"]] as const;

/** The list, which may be long; running imports are polled one by one. */
export const importsQuery = queryOptions({
  queryKey: ["imports"],
  queryFn: ({ signal }) => imports.listImports({ signal }),
  refetchInterval: IDLE_MS,
});

export function importQuery(id: number) {
  return queryOptions({
    queryKey: ["import", id],
    queryFn: ({ signal }) => imports.getImport(id, { signal }),
    refetchInterval: ({ state }) => (state.data !== undefined && isActive(state.data) ? PROGRESS_MS : false),
  });
}

export const specsQuery = queryOptions({ queryKey: ["specs"], queryFn: ({ signal }) => endpoints.listSpecs({ signal }) });

export function specQuery(spec: string) {
  return queryOptions({ queryKey: ["specs", spec], queryFn: ({ signal }) => endpoints.getSpec(spec, { signal }) });
}

export function previewQuery(toml: string, sample: string) {
  return queryOptions({
    queryKey: ["preview", toml, sample],
    queryFn: ({ signal }) => endpoints.previewSpec(toml, sample, { signal }),
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 60_000,
  });
}

export function baselinesQuery(host: string | null) {
  return queryOptions({
    queryKey: ["baselines", host],
    queryFn: ({ signal }) => endpoints.listBaselines(host, { signal }),
    select: withShownNames,
  });
}

export const usersQuery = queryOptions({ queryKey: ["users"], queryFn: ({ signal }) => endpoints.listUsers({ signal }) });
export const apiTokensQuery = queryOptions({
  queryKey: ["api-tokens"],
  queryFn: ({ signal }) => endpoints.listApiTokens({ signal }),
});
export const joinTokensQuery = queryOptions({ queryKey: ["join-tokens"], queryFn: ({ signal }) => listJoinTokens({ signal }) });
export const agentTokensQuery = queryOptions({
  queryKey: ["agent-tokens"],
  queryFn: ({ signal }) => endpoints.listAgentTokens({ signal }),
});
