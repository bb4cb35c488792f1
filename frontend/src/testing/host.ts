/** A host for tests that are not about it. */

import type { HostInfo } from "../logic/api";

export function madeHost(name: string): HostInfo {
  return {
    name,
    os: "Linux",
    state: "live",
    agent_version: "1",
    created_at: "2026-11-21T10:00:00Z",
    first_sample_at: "2026-11-21T10:00:00Z",
    last_sample_at: "2026-11-21T10:00:59Z",
    last_seen_at: "2026-11-21T10:01:00Z",
    clock_offset_s: 0,
    n_streams: 1,
    n_streams_live: 1,
    n_rejected: 0,
    n_rejected_last_hour: 0,
    n_rejected_hour_before: 0,
    has_reject_rise: false,
    stats: ["vmstat_linux"],
    tags: [],
    agent_tags: [],
  };
}
