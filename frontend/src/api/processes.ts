/** Commands and processes of a host. */

import { queryOptions } from "@tanstack/react-query";
import type { ShownInstant } from "../logic/process_report";
import { toIso, type Window } from "../logic/time";
import { readNow } from "../state/clock";
import { api } from "./client";
import { span } from "./addresses";

/** Commands of a host in a window, or the processes of one of them. */
export interface ProcessesQuery {
  readonly host: string;
  readonly window: Window;
  readonly by: "command" | "process";
  readonly command: string | null;
  readonly search: string;
  readonly sort: string | null;
  readonly stat: string | null;
  readonly limit: number;
}

/** While the window moves, the list keeps its rows. */
export function processesQuery(query: ProcessesQuery) {
  const { host, window, by, command, search, sort, stat, limit } = query;
  return queryOptions({
    queryKey: ["processes", query],
    queryFn: ({ signal }) =>
      api.GET("/hosts/{host}/processes", {
        signal,
        params: {
          path: { host },
          query: {
            ...span(window),
            by,
            search,
            limit,
            ...(command === null ? {} : { command }),
            ...(sort === null ? {} : { sort }),
            ...(stat === null ? {} : { stat }),
          },
        },
      }),
    placeholderData: (previous, previousQuery) => {
      const before = previousQuery?.queryKey[1] as ProcessesQuery | undefined;
      return before?.host === query.host && before.by === query.by && before.command === query.command ? previous : undefined;
    },
    staleTime: 60_000,
    gcTime: 30_000,
  });
}

export function processQuery(host: string, window: Window, process: { readonly command: string; readonly pid: number | null }) {
  const { command, pid } = process;
  return queryOptions({
    queryKey: ["process", host, process, window],
    queryFn: ({ signal }) =>
      api.GET("/hosts/{host}/process", {
        signal,
        params: { path: { host }, query: { ...span(window), command, ...(pid === null ? {} : { pid }) } },
      }),
    placeholderData: (previous, previousQuery) => {
      const [, ownHost, own] = previousQuery?.queryKey ?? [];
      return ownHost === host && JSON.stringify(own) === JSON.stringify(process) ? previous : undefined;
    },
    staleTime: 60_000,
    gcTime: 30_000,
  });
}

/** The processes at an instant, and the baseline beside them. */
export interface ReportQuery {
  readonly host: string;
  readonly instant: ShownInstant;
  readonly baseline: number | null;
}

// The server lists those with most of the first quantity.
const MAX_REPORTED = 2000;
const NEXT_REPORT_MS = 5_000;
// A report may still be coming in.
const RECENT_MS = 120_000;

/** From instant to instant the table keeps its rows until the next ones are there. */
export function processReportQuery(query: ReportQuery) {
  const { host, instant, baseline } = query;
  return queryOptions({
    queryKey: ["process-report", query],
    queryFn: ({ signal }) =>
      api.GET("/hosts/{host}/process-report", {
        signal,
        params: {
          path: { host },
          query: {
            at: toIso(instant.at),
            limit: MAX_REPORTED,
            ...(instant.stat === null ? {} : { stat: instant.stat }),
            ...(baseline === null ? {} : { baseline }),
          },
        },
      }),
    placeholderData: (previous, previousQuery) =>
      (previousQuery?.queryKey[1] as ReportQuery | undefined)?.host === query.host ? previous : undefined,
    refetchInterval: ({ state }) =>
      state.data?.next_at === null && readNow() - query.instant.at < RECENT_MS ? NEXT_REPORT_MS : false,
    staleTime: 60_000,
    gcTime: 60_000,
  });
}
