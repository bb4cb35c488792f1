/** Queries of events. The events of a host in a window, for graphs, are in queries.ts. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { HostEvent } from "../logic/api";
import { type EpochMs, toIso } from "../logic/time";
import { addressOf, api } from "./client";

const REFRESH_MS = 30_000;

/** Which events a list shows; the words and tags must all be there. */
export interface EventFilter {
  readonly hosts: readonly string[];
  readonly start: EpochMs | null;
  readonly end: EpochMs | null;
  readonly kinds: readonly HostEvent["kind"][];
  readonly tags: readonly string[];
  readonly search: string;
}

function paramsOf({ hosts, start, end, kinds, tags, search }: EventFilter) {
  return {
    host: [...hosts],
    ...(start === null ? {} : { start: toIso(start) }),
    ...(end === null ? {} : { end: toIso(end) }),
    kind: [...kinds],
    tag: [...tags],
    ...(search.trim() === "" ? {} : { search }),
  };
}

/** A page of events, newest first. */
export function eventListQuery(filter: EventFilter, offset: number, limit: number) {
  return queryOptions({
    queryKey: ["event-list", filter, offset, limit],
    queryFn: ({ signal }) => api.GET("/events", { signal, params: { query: { ...paramsOf(filter), offset, limit } } }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

/** Return the URL of the CSV export of a list. */
export function eventsCsvAddress(filter: EventFilter): string {
  return addressOf("/events.csv", paramsOf(filter));
}

/** The queries that a change of an event invalidates. */
export const EVENT_KEYS = [["events"], ["event-list"]] as const;
