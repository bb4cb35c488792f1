/** The time zones of hosts: their route and their cache. */

import { queryOptions } from "@tanstack/react-query";
import type { HostZoneList } from "../logic/api";
import type { ZoneSubject } from "../state/zone_choice";
import { answered, client } from "./client";
import type { Signal } from "./endpoints";

const FRESH_MS = 300_000;

function listHostZones({ hosts, group, tag }: ZoneSubject, options: Signal): Promise<HostZoneList> {
  return answered(client.GET("/api/v1/host-zones", { ...options, params: { query: { host: [...hosts], group, tag } } }));
}

/** The zones of some hosts; of all where none is named. */
export function hostZonesQuery(subject: ZoneSubject) {
  return queryOptions({
    queryKey: ["host-zones", subject],
    queryFn: ({ signal }) => listHostZones(subject, { signal }),
    staleTime: FRESH_MS,
  });
}
