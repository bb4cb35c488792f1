/** Queries of the logs of traces. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { addressOf, api } from "./client";

/** Which events of a log: an expression, and a window in nanoseconds of the log's clock as decimal digits. */
export interface LogChoice {
  readonly artefact: number;
  readonly part: number;
  readonly where: string;
  readonly start: string | null;
  readonly end: string | null;
}

function pathOf(choice: LogChoice) {
  return { id: choice.artefact, part: choice.part };
}

function queryOf({ where, start, end }: LogChoice) {
  return { ...(where === "" ? {} : { where }), ...(start === null ? {} : { start }), ...(end === null ? {} : { end }) };
}

export function logEventsQuery(choice: LogChoice, offset: number, limit: number) {
  return queryOptions({
    queryKey: ["log-events", choice, offset, limit],
    queryFn: ({ signal }) =>
      api.GET("/artefacts/{id}/parts/{part}/log", {
        signal,
        params: { path: pathOf(choice), query: { ...queryOf(choice), offset, limit } },
      }),
    placeholderData: keepPreviousData,
  });
}

export function logLatenciesQuery(choice: LogChoice, pair: string) {
  return queryOptions({
    queryKey: ["log-latencies", choice, pair],
    queryFn: ({ signal }) =>
      api.GET("/artefacts/{id}/parts/{part}/log/latencies", {
        signal,
        params: { path: pathOf(choice), query: { ...queryOf(choice), pair, limit: 50 } },
      }),
    placeholderData: keepPreviousData,
  });
}

export function logLanesQuery(choice: LogChoice, by: string, width: number) {
  return queryOptions({
    queryKey: ["log-lanes", choice, by, width],
    queryFn: ({ signal }) =>
      api.GET("/artefacts/{id}/parts/{part}/log/lanes", {
        signal,
        params: { path: pathOf(choice), query: { ...queryOf(choice), by, width } },
      }),
    placeholderData: keepPreviousData,
    gcTime: 60_000,
  });
}

export function logBlockingQuery(choice: LogChoice) {
  return queryOptions({
    queryKey: ["log-blocking", choice],
    queryFn: ({ signal }) =>
      api.GET("/artefacts/{id}/parts/{part}/log/blocking", {
        signal,
        params: { path: pathOf(choice), query: { ...queryOf(choice), limit: 50 } },
      }),
    placeholderData: keepPreviousData,
  });
}

/** The files that a log can be taken along as. */
export const LOG_FILES = ["events.txt", "events.csv", "lanes.svg", "lanes.pdf", "latencies.svg", "latencies.pdf"] as const;
export type LogFile = (typeof LOG_FILES)[number];

/** Return where the server makes a file of the chosen events. `by`: what has a lane; `pair`: which latencies. */
export function logFileAddress(choice: LogChoice, file: LogFile, by: string, pair: string): string {
  return addressOf(`/artefacts/${String(choice.artefact)}/parts/${String(choice.part)}/log/${file}`, {
    ...queryOf(choice),
    ...(file.startsWith("lanes") ? { by } : {}),
    ...(file.startsWith("latencies") && pair !== "" ? { pair } : {}),
  });
}
