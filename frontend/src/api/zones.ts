/** The time zones of hosts: their route and their cache. */

import { queryOptions } from "@tanstack/react-query";
import type { ZoneSubject } from "../state/zone_choice";
import { api } from "./client";

const FRESH_MS = 300_000;

/** The zones of some hosts; of all where none is named. */
export function hostZonesQuery(subject: ZoneSubject) {
  const { hosts, group, tag } = subject;
  return queryOptions({
    queryKey: ["host-zones", subject],
    queryFn: ({ signal }) => api.GET("/host-zones", { signal, params: { query: { host: [...hosts], group, tag } } }),
    staleTime: FRESH_MS,
  });
}
