/** The zone in which the page shows its times: of the browser, UTC, or of the hosts that the page is about. */

import { useQuery } from "@tanstack/react-query";
import { useLocation, useParams, useSearch } from "@tanstack/react-router";
import { createContext, useContext, useMemo } from "react";
import { hostZonesQuery } from "../api/zones";
import { chooseHostZone, groupZones, type HostZoneChoice } from "../logic/host_zone";
import type { Zone } from "../logic/zone";
import { listZones, zoneOf } from "../state/clock";
import { type Clock, type ZoneSubject, zoneSubjectOf } from "../state/zone_choice";

const ALL_HOSTS: ZoneSubject = { hosts: [], group: null, tag: null };

/** The zone of the hosts of the page; null while it is not known. */
export const HostZoneContext = createContext<Zone | null>(null);

/** Return the zone of a link's clock. Where the hosts have no common zone it is UTC, and the page says so under its header. */
export function useZone(clock: Clock): Zone {
  const ofHosts = useContext(HostZoneContext);
  return clock === "host" ? (ofHosts ?? "UTC") : zoneOf(clock);
}

/** Return all zones for a list to choose from, those of the hosts first; also the chosen one, which may be an old name. */
export function useZoneGroups(chosen: Zone | null = null): readonly { readonly group: string; readonly items: string[] }[] {
  const { data } = useQuery(hostZonesQuery(ALL_HOSTS));
  return useMemo(() => {
    const all = chosen === null ? listZones() : [...new Set([...listZones(), chosen])];
    return groupZones(data?.hosts ?? [], all).map(({ group, items }) => ({ group, items: [...items] }));
  }, [data, chosen]);
}

/** What is known of the zone of the hosts of this page. */
export interface HostZoneState {
  readonly subject: ZoneSubject;
  /** Null while it is read, and after an error. */
  readonly choice: HostZoneChoice | null;
  readonly error: Error | null;
}

/** Return the zone of the hosts of this page; it is read if it `isAsked`. */
export function useHostZone(isAsked: boolean): HostZoneState {
  const pathname = useLocation({ select: (location) => location.pathname });
  const { host } = useParams({ strict: false });
  const search = useSearch({ strict: false });
  const subject = useMemo(() => zoneSubjectOf(pathname, host, search), [pathname, host, search]);
  const { data, error } = useQuery({ ...hostZonesQuery(subject), enabled: isAsked });
  const choice = useMemo(() => (data === undefined ? null : chooseHostZone(data.hosts)), [data]);
  return { subject, choice, error };
}
