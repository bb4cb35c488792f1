import { describe, expect, it } from "vitest";
import type { HostInfo } from "./api";
import { firstGraph } from "./first_graph";
import { DEFAULT_RANGE, type Range } from "./range";
import { HOUR, toEpochMs } from "./time";

const host = (name: string, state: HostInfo["state"], last_sample_at: string | null): HostInfo => ({
  name,
  state,
  last_sample_at,
  first_sample_at: last_sample_at,
  last_seen_at: null,
  created_at: "2026-11-20T00:00:00Z",
  agent_version: "",
  clock_offset_s: null,
  has_reject_rise: false,
  n_rejected: 0,
  n_rejected_hour_before: 0,
  n_rejected_last_hour: 0,
  n_streams: 1,
  n_streams_live: state === "live" ? 1 : 0,
  os: "",
  stats: [],
  tags: [],
  agent_tags: [],
});

describe("the first graph of several hosts", () => {
  it("has the hosts that send now, at most eight, in the range of the address", () => {
    const live = Array.from({ length: 10 }, (_, n) => host(`web${String(n)}`, "live", `2026-11-23T06:00:0${String(n)}Z`));
    const first = firstGraph([host("old", "recorded", "2026-11-01T00:00:00Z"), ...live], DEFAULT_RANGE);
    expect(first?.hosts).toEqual(["web9", "web8", "web7", "web6", "web5", "web4", "web3", "web2"]);
    expect(first?.range).toBe(DEFAULT_RANGE);
  });

  it("has the host recorded last, at the end of its samples, where none sends", () => {
    const hosts = [host("a", "recorded", "2026-11-01T00:00:00Z"), host("b", "silent", "2026-11-02T00:00:00Z")];
    const end = Date.parse("2026-11-02T00:00:00Z");
    expect(firstGraph(hosts, DEFAULT_RANGE)).toEqual({
      hosts: ["b"],
      range: { kind: "fixed", window: { start: end - 15 * 60_000, end: end + 1 } },
    });
    const range: Range = { kind: "fixed", window: { start: toEpochMs(0), end: toEpochMs(HOUR) } };
    expect(firstGraph(hosts, range)?.range).toBe(range);
  });

  it("has nothing where no host has samples", () => {
    expect(firstGraph([host("new", "silent", null)], DEFAULT_RANGE)).toBeNull();
    expect(firstGraph([], DEFAULT_RANGE)).toBeNull();
  });
});
