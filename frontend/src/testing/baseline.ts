/** Baselines for tests, which name only what they are about. */

import type { BaselineInfo } from "../logic/api";

export function madeBaseline(changes: Partial<BaselineInfo> = {}): BaselineInfo {
  return {
    id: 1,
    name: "Saturday",
    note: "after the deploy",
    hosts: ["web1"],
    windows: [
      { start: "2026-11-21T09:00:00Z", end: "2026-11-21T09:10:00Z" },
      { start: "2026-11-21T10:00:00Z", end: "2026-11-21T10:05:00Z" },
    ],
    version: 1,
    group: null,
    excluded: [],
    time_zone: "UTC",
    rule: null,
    recording_until: null,
    is_rolling: false,
    archived_at: null,
    profile: null,
    created_by: "admin",
    created_at: "2026-11-21T09:10:00Z",
    updated_at: "2026-11-21T09:10:00Z",
    ...changes,
  };
}
