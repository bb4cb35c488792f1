import { describe, expect, it } from "vitest";
import {
  baselineTitle,
  formatDivisor,
  groupsOfHosts,
  inputsOf,
  newerVersion,
  newestBaseline,
  parseDivisor,
  withShownNames,
} from "./against";
import { parseIso } from "./time";
import { madeComparison, madeGroup } from "./comparison_fixture";
import type { BaselineInfo, FindingGroup } from "./api";
import {
  describeAccount,
  describeMembers,
  describeRatios,
  filterGroups,
  formatPin,
  groupKey,
  markOf,
  optionsOf,
  parsePin,
  pinOf,
  sortGroups,
  SUBSYSTEMS,
} from "./group";

const ranks = (groups: readonly FindingGroup[]): number[] => groups.map(({ rank }) => rank);
const groups = [
  madeGroup(1, {
    change_ratio: 9,
    impact: 0.5,
    stat: "mpstat_linux",
    column: "%usr",
    instances: ["10", "3"],
    n_members: 2,
    n_instances: 64,
  }),
  madeGroup(2, {
    change_ratio: 40,
    impact: 0.1,
    stat: "iostat_linux",
    column: "await",
    subsystem: "disk",
    kind: "top",
    instances: ["sdb"],
  }),
  madeGroup(3, {
    change_ratio: 12,
    impact: 0.3,
    stat: "iostat_linux",
    column: "%util",
    subsystem: "disk",
    host: "db2",
    instances: ["sda"],
  }),
];
const all = { text: "", hosts: [], subsystems: [], kinds: [] };

describe("groups of findings", () => {
  it("are in the server's order, or by change ratio, impact or name; pinned ones are first", () => {
    const none = new Set<string>();
    expect(ranks(sortGroups([...groups].reverse(), "anomaly_score", none))).toEqual([1, 2, 3]);
    expect(ranks(sortGroups(groups, "change_ratio", none))).toEqual([2, 3, 1]);
    expect(ranks(sortGroups(groups, "impact", none))).toEqual([1, 3, 2]);
    expect(ranks(sortGroups(groups, "name", none))).toEqual([3, 2, 1]);
    expect(ranks(sortGroups(groups, "anomaly_score", new Set([groupKey(groups[2]!)])))).toEqual([3, 1, 2]);
  });

  it("are filtered by words in any of their names, and by the chosen filters", () => {
    expect(ranks(filterGroups(groups, { ...all, text: "SDB" }))).toEqual([2]);
    expect(ranks(filterGroups(groups, { ...all, text: "-iostat" }))).toEqual([1]);
    expect(ranks(filterGroups(groups, { ...all, text: "linux -" }))).toEqual([]);
    expect(ranks(filterGroups(groups, { ...all, subsystems: ["disk"], hosts: ["db2", "db3"] }))).toEqual([3]);
    expect(ranks(filterGroups(groups, { ...all, kinds: ["top", "trend"] }))).toEqual([2]);
  });

  it("offer only filters with matches, with their counts", () => {
    expect(optionsOf(groups, SUBSYSTEMS, ({ subsystem }) => subsystem)).toEqual([
      { value: "cpu", count: 1 },
      { value: "disk", count: 2 },
    ]);
  });

  it("are named by their strongest member in a link", () => {
    for (const instance of ["", "sdb", "4711/java", "a@b.c,d"]) {
      const pin = pinOf({ host: "web1.example", stat: "iostat_linux", field: "util_pct", instances: [instance, "other"] });
      expect(parsePin(formatPin(pin))).toEqual(pin);
    }
    expect(parsePin("nonsense")).toBeNull();
  });

  it("say how many instances they cover", () => {
    const of = (n_members: number, n_instances: number, instances: string[]) => ({ n_members, n_instances, instances });
    expect(describeMembers(of(61, 64, ["3", "4"]), "CPU")).toBe("61 of 64 CPUs");
    expect(describeMembers(of(1, 64, ["3"]), "CPU")).toBe("CPU 3, of 64");
    expect(describeMembers(of(1, 1, ["sda"]), "disk")).toBe("disk sda");
    // The summary of all CPUs is a series of the group, and no CPU.
    expect(describeMembers(of(2, 2, ["all", "0", "1"]), "CPU")).toBe("2 of 2 CPUs");
    expect(describeMembers(of(1, 1, ["all"]), "CPU")).toBe("CPU all");
    expect(describeMembers(of(2, 3, ["a", "b"]), "")).toBe("2 of 3 instances");
    expect(describeMembers(of(1, 1, [""]), "")).toBe("");
  });

  it("are marked with words, not only colours", () => {
    expect(markOf({ direction: "up", is_worse: true })).toEqual({ verdict: "worse", arrow: "up" });
    expect(markOf({ direction: "down", is_worse: false })).toEqual({ verdict: "better", arrow: "down" });
    expect(markOf({ direction: "same", is_worse: null })).toEqual({ verdict: "changed", arrow: "same" });
  });

  it("are counted together with everything that is not a finding", () => {
    expect(
      describeAccount(
        madeComparison(3, {
          n_findings: 64,
          n_unchanged: 1200,
          counts: { appeared: 2, disappeared: 1, insufficient_data: 40, muted: 4 },
        }),
      ),
    ).toBe(
      "Of 1,310 series: 64 changed (in 3 groups), 1,200 unchanged, 2 appeared, 1 disappeared, 40 with insufficient data, 4 muted",
    );
    expect(describeAccount(madeComparison(1))).toBe(
      "Of 1,310 series: 1 changed, 1,309 unchanged, 0 appeared, 0 disappeared, 0 with insufficient data",
    );
  });

  it("list their change ratios, largest first", () => {
    expect(describeRatios({ value: 2, top: 12.34, still: 0 })).toBe("top 12.3, value 2.00");
  });
});

describe("the other side of a comparison", () => {
  it("is the newest baseline with windows by default", () => {
    const window = { start: "2026-11-21T08:00:00Z", end: "2026-11-21T09:00:00Z" };
    const made = (id: number, windows: { start: string; end: string }[], recording_until: string | null, is_rolling = false) => ({
      id,
      windows,
      recording_until,
      is_rolling,
    });
    expect(newestBaseline([made(4, [], null), made(3, [window], window.end), made(2, [window], null)])?.id).toBe(2);
    expect(newestBaseline([made(4, [], null), made(3, [window], window.end)])?.id).toBe(3);
    expect(newestBaseline([])).toBeNull();
    const rolling = made(9, [window], null, true);
    expect(newestBaseline([made(3, [window], window.end), rolling])?.id).toBe(3);
    expect(newestBaseline([rolling])?.id).toBe(9);
  });

  it("is called by its length when it was not marked", () => {
    const windows = [
      { start: "2026-11-14T08:00:00Z", end: "2026-11-18T09:00:00Z" },
      { start: "2026-11-18T10:00:00Z", end: "2026-11-21T08:00:00Z" },
    ];
    const list = [
      { name: "last 7 days of web1", is_rolling: true, windows },
      { name: "quiet", is_rolling: false, windows },
    ] as BaselineInfo[];
    expect(withShownNames({ baselines: list }).baselines.map(({ name }) => name)).toEqual(["the last 7 days", "quiet"]);
  });

  it("may have a newer version", () => {
    const now = [{ id: 1, version: 3 }];
    expect(newerVersion({ baseline_id: 1, version: 2 }, now)).toBe(3);
    expect(newerVersion({ baseline_id: 1, version: 3 }, now)).toBeNull();
    expect(newerVersion({ baseline_id: null, version: null }, now)).toBeNull();
  });

  it("shows its name only once", () => {
    expect(baselineTitle({ name: "baseline Quiet hour" })).toBe("Baseline: Quiet hour");
    expect(baselineTitle({ name: "the same hours yesterday" })).toBe("Baseline: the same hours yesterday");
  });

  it("of a saved comparison is used again", () => {
    const saved = madeComparison(1);
    expect(inputsOf(saved)).toEqual({
      hosts: ["web1"],
      incident: { start: parseIso(saved.start), end: parseIso(saved.end) },
      against: { kind: "baseline", id: 1, version: 1 },
      divisor: null,
    });
    const [first] = saved.against.windows;
    const ago = { ...saved.against, kind: "ago", baseline_id: null, version: null } as const;
    expect(inputsOf({ ...saved, against: ago })?.against).toEqual({
      kind: "window",
      window: { start: parseIso(first!.start), end: parseIso(first!.end) },
    });
    expect(inputsOf({ ...saved, against: { ...ago, kind: "host", host: "db2" } })?.against).toEqual({
      kind: "host",
      host: "db2",
    });
    expect(inputsOf({ ...saved, against: { ...ago, kind: "group", group: "db", members: ["db2"] } })?.against).toEqual({
      kind: "group",
      group: "db",
    });
    expect(inputsOf({ ...saved, against: { ...ago, windows: [] } })).toBeNull();
  });

  it("may be with a group that has other hosts, those of the hosts themselves first", () => {
    const groups = [{ hosts: ["a"] }, { hosts: ["b", "c"] }, { hosts: ["a", "b"] }, { hosts: [] }];
    expect(groupsOfHosts(groups, ["a"])).toEqual([{ hosts: ["a", "b"] }, { hosts: ["b", "c"] }]);
    expect(groupsOfHosts(groups, ["b", "c"])).toEqual([{ hosts: ["a"] }, { hosts: ["a", "b"] }]);
  });

  it("may be divided by a series of one instance or of all", () => {
    for (const text of ["vmstat_sunos.faults_sy", "iostat_linux.r_per_s@sda@0"]) {
      expect(formatDivisor(parseDivisor(text)!)).toBe(text);
    }
    expect(parseDivisor("faults")).toBeNull();
    expect(parseDivisor("a.b@")).toBeNull();
  });
});
