/** The zone that hosts have in common, from what their agents reported. */

import type { HostZone } from "./api";
import type { Zone } from "./zone";

const hostZoneUnreported = (hosts: string) =>
  hosts === ""
    ? "No agent has reported its time zone, so times are in UTC. An agent reports it if its stats.conf has the line host_facts."
    : `No agent has reported the time zone of ${hosts}, so times are in UTC. An agent reports it if its stats.conf has the line host_facts.`;

const MAX_LISTED = 3;

/** Why there is no zone of the hosts: no agent reported one, the hosts have several, or this browser does not know the name. */
export type NoHostZone =
  | { readonly kind: "unreported" }
  | { readonly kind: "several"; readonly zones: readonly { readonly zone: string; readonly hosts: readonly string[] }[] }
  | { readonly kind: "unknown-name"; readonly name: string };

/** The zone of the hosts, or why there is none: times are in UTC then. */
export interface HostZoneChoice {
  readonly zone: Zone | null;
  readonly problem: NoHostZone | null;
  /** The hosts whose zone no agent reported, where others have one. */
  readonly unreported: readonly string[];
}

/** Return the zone of an agent's report: a name that this browser knows, or an offset as `+05:30`. Missing: null for another text. */
export function parseHostZone(text: string): Zone | null {
  const [, sign, hours, minutes] = /^([+-])([01]\d):?([0-5]\d)$/.exec(text) ?? [];
  if (sign !== undefined && hours !== undefined && minutes !== undefined) {
    return hours === "00" && minutes === "00" ? "UTC" : `${sign}${hours}:${minutes}`;
  }
  if (!/^[A-Za-z]/.test(text)) {
    return null;
  }
  try {
    const { timeZone } = new Intl.DateTimeFormat("en-US", { timeZone: text }).resolvedOptions();
    return /^(Etc\/)?(UTC|UCT|GMT|Universal|Zulu|Greenwich)$/.test(timeZone) ? "UTC" : text;
  } catch {
    return null;
  }
}

/** Return the one zone that all hosts with a report have. */
export function chooseHostZone(hosts: readonly HostZone[]): HostZoneChoice {
  const byZone = new Map<string, string[]>();
  for (const { host, time_zone } of hosts) {
    if (time_zone !== null) {
      const zone = parseHostZone(time_zone) ?? time_zone;
      byZone.set(zone, [...(byZone.get(zone) ?? []), host]);
    }
  }
  const unreported = hosts.filter(({ time_zone }) => time_zone === null).map(({ host }) => host);
  const [first, ...more] = [...byZone].map(([zone, names]) => ({ zone, hosts: names }));
  if (first === undefined) {
    return { zone: null, problem: { kind: "unreported" }, unreported };
  }
  if (more.length > 0) {
    const zones = [first, ...more].sort((a, b) => b.hosts.length - a.hosts.length);
    return { zone: null, problem: { kind: "several", zones }, unreported };
  }
  const isKnown = parseHostZone(first.zone) !== null;
  return { zone: isKnown ? first.zone : null, problem: isKnown ? null : { kind: "unknown-name", name: first.zone }, unreported };
}

function listed(names: readonly string[], separator: string): string {
  const rest = names.length - MAX_LISTED;
  const shown = names.slice(0, MAX_LISTED).join(separator);
  return rest > 0 ? `${shown} and ${String(rest)} more` : shown;
}

/** Return why times are in UTC, for the named hosts or all. Missing: null where the hosts have a zone. */
export function noZoneReason({ problem }: HostZoneChoice, hosts: readonly string[]): string | null {
  switch (problem?.kind) {
    case undefined:
      return null;
    case "unreported":
      return hostZoneUnreported(listed(hosts, ", "));
    case "several":
      return `The hosts of this page are in different time zones, so times are in UTC (${listed(
        problem.zones.map(({ zone, hosts: own }) => `${zone}: ${listed(own, ", ")}`),
        "; ",
      )}). Choose fewer hosts to see their own time.`;
    case "unknown-name":
      return `This browser does not know the time zone ${problem.name} of the host, so times are in UTC.`;
  }
}

/** A heading and the zones under it. */
export interface ZoneGroup {
  readonly group: string;
  readonly items: readonly Zone[];
}

/** Return all zones for a list to choose from, those of the hosts first. */
export function groupZones(hosts: readonly HostZone[], all: readonly Zone[]): readonly ZoneGroup[] {
  const known = new Set(all);
  const reported = hosts.map(({ time_zone }) => (time_zone === null ? null : parseHostZone(time_zone)));
  const first = [...new Set(reported.filter((zone) => zone !== null && known.has(zone)))].filter((zone) => zone !== null).sort();
  const rest = { group: "Others", items: all.filter((zone) => !first.includes(zone)) };
  return first.length === 0 ? [rest] : [{ group: "Zones of the hosts", items: first }, rest];
}

/** Return the zone as the server takes it, which knows names only: whole hours have one, other offsets become UTC. */
export function toNamedZone(zone: Zone): Zone {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(zone) ?? [];
  if (sign === undefined) {
    return zone;
  }
  // Etc/GMT-5 is five hours ahead of UTC.
  return minutes === "00" ? `Etc/GMT${sign === "+" ? "-" : "+"}${String(Number(hours))}` : "UTC";
}
