/** Hosts for tests, which name only what they are about. */

import type { FleetHost, HostInfo } from "../logic/api";
import type { FakeServer } from "./server";

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

/** A host of the fleet, as in its baseline. */
export function madeFleetHost(name: string, changes: Partial<FleetHost> = {}): FleetHost {
  return {
    name,
    os: "Linux 6.1 x86_64",
    state: "live",
    last_seen_ms: 0,
    last_sample_ms: 0,
    clock_offset_s: 0,
    n_streams_live: 1,
    n_streams: 1,
    n_rejected: 0,
    n_rejected_last_hour: 0,
    n_rejected_hour_before: 0,
    has_reject_rise: false,
    groups: [],
    tags: [],
    agent_tags: [],
    verdict: "judged",
    change_ratio: 0,
    level: 0,
    sentence: "",
    baseline_id: 1,
    baseline_name: "quiet",
    is_rolling: false,
    ribbon: "0".repeat(60),
    lines: [],
    ...changes,
  };
}

/** Answer what the page of the host web1 asks for, which has one stream and nothing else. */
export function answerHost(server: FakeServer): void {
  server.on("GET /stats", { stats: [] });
  server.on("GET /hosts", { hosts: [] });
  server.on("GET /baselines", { baselines: [] });
  server.on("GET /exclusions", { exclusions: [] });
  server.on("GET /views", { views: [] });
  server.on("GET /hosts/{host}/events", { events: [], known_since: null, n_left_out: 0 });
  server.on("GET /hosts/{host}/scores", {
    normal: {
      kind: "none",
      baseline: null,
      name: "",
      needed_h: 24,
      recorded_h: null,
      sentence: "no normal",
      too_short: null,
      unbuilt: null,
    },
    step_ms: 60_000,
    steps: [],
    subsystems: [],
    window_minutes: [],
  });
  server.on("GET /hosts/{host}", { host: madeHost("web1"), streams: [], n_old_streams: 0 });
  server.on("GET /hosts/{host}/forecasts", { host: "web1", at: "2026-11-21T10:00:00Z", n_filling: 0, forecasts: [] });
  server.on("GET /hosts/{host}/changes-of-normal", { host: "web1", searched_until: null, changes: [] });
}
