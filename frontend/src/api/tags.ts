/** The tags of hosts. */

import type { QueryClient } from "@tanstack/react-query";
import type { Fleet, TaggedHosts } from "../logic/api";

/** Show the changed tags. The server repeats its answer of the fleet for some seconds, so that one is changed here. */
export async function showTags(queries: QueryClient, { hosts }: TaggedHosts): Promise<void> {
  const changed = new Map(hosts.map(({ name, tags, agent_tags }) => [name, { tags, agent_tags }]));
  queries.setQueriesData<Fleet>(
    { queryKey: ["fleet"] },
    (fleet) => fleet && { ...fleet, hosts: fleet.hosts.map((host) => ({ ...host, ...changed.get(host.name) })) },
  );
  await Promise.all([["hosts"], ["host"]].map((queryKey) => queries.invalidateQueries({ queryKey })));
}
