import { describe, expect, it } from "vitest";
import type { FindingGroup } from "./api";
import { describeMedians } from "./comparison";
import { madeComparison, madeFinding, madeGroup, madeSideValues, madeStory, NO_VALUES } from "./comparison_fixture";
import { describeChangeRatio } from "./group";
import {
  byRank,
  describeExactly,
  describeOnset,
  describeProcess,
  describeSentence,
  describeTimes,
  drawnGroup,
  groupsOf,
  isAllClear,
  processFields,
} from "./story";
import { toEpochMs } from "./time";

const START = Date.UTC(2026, 10, 21, 9, 35);
const incident = { start: toEpochMs(START), end: toEpochMs(START + 600_000) };
const sparkline = { start_ms: START, end_ms: START + 600_000, low: [1], high: [2], baseline: null };
const drawn = (rank: number, change: Partial<FindingGroup> = {}) =>
  madeGroup(rank, { members: [madeFinding({ sparkline })], ...change });

describe("a story", () => {
  it("draws its strongest group that is no detail: a resource before a process", () => {
    const ranked = byRank([drawn(1), drawn(2), drawn(3), madeGroup(4)]);
    const lines = (...told: readonly (readonly [number, "busy" | "detail"])[]) =>
      told.map(([rank, role]) => ({ rank, role, text: "" }));
    const rankOf = (ranks: number[], told: ReturnType<typeof lines>) => drawnGroup({ ranks, lines: told }, ranked)?.rank;
    expect(rankOf([1, 2, 3], lines([2, "detail"], [3, "busy"]))).toBe(3);
    expect(rankOf([1, 2], lines([2, "detail"]))).toBe(1);
    expect(rankOf([2], lines([2, "detail"]))).toBe(2);
    expect(rankOf([4, 2], lines([4, "busy"], [2, "detail"]))).toBe(2);
    expect(rankOf([4], [])).toBe(4);
    expect(rankOf([99], [])).toBeUndefined();
  });

  it("names only groups that the result holds", () => {
    const ranked = byRank([drawn(1), drawn(3)]);
    expect(groupsOf({ ranks: [3, 2, 1] }, ranked).map(({ rank }) => rank)).toEqual([3, 1]);
  });

  it("says when it began, in the page's zone", () => {
    expect(describeOnset(null, incident, "UTC")).toBeNull();
    expect(describeOnset(START + 12_400, incident, "UTC")).toEqual({ at: "09:35:12", into: "12 s into the incident" });
    expect(describeOnset(START + 125_000, incident, "Europe/Berlin")).toEqual({
      at: "10:37:05",
      into: "2 min 5 s into the incident",
    });
    expect(describeOnset(START, incident, "UTC")?.into).toBe("at the start of the incident");
    const long = { start: incident.start, end: toEpochMs(START + 3 * 86_400_000) };
    expect(describeOnset(START + 86_400_000, long, "UTC")).toEqual({ at: "2026-11-22 09:35:00", into: "1 d into the incident" });
  });

  it("says of a process how it changed, and since when", () => {
    const [process] = madeStory(1, []).processes;
    expect(describeProcess(process!, incident, "UTC")).toBe("new, since 09:35:12");
    expect(describeProcess({ ...process!, change: "gone", start_ms: null }, incident, "UTC")).toBe("gone");
  });

  it("says when something else happened", () => {
    const times = { start_ms: START + 12_000, end_ms: START + 40_400 };
    const one = { kind: "observer", host: "web1", sentence: "", is_likely_cause: false, ...times } as const;
    expect(describeTimes(one, incident, "UTC")).toBe("09:35:12 to 09:35:40");
    expect(describeTimes({ ...one, end_ms: START + 12_300 }, incident, "UTC")).toBe("09:35:12");
    expect(describeTimes({ ...one, end_ms: null }, incident, "UTC")).toBe("09:35:12");
    expect(describeTimes({ ...one, start_ms: null, end_ms: null }, incident, "UTC")).toBe("");
  });

  it("leads to the fields of a process that changed, else to those of its stat", () => {
    const groups = [
      madeGroup(1, { stat: "pidstat_linux", field: "kb_wr_per_s", instances: ["7/dd"] }),
      madeGroup(2, { stat: "pidstat_linux", field: "cpu_pct", instances: ["8/sh", "7/dd"] }),
      madeGroup(3, { stat: "pidstat_linux", field: "mem_pct", instances: ["7/dd"], host: "web2" }),
    ];
    const process = { host: "web1", stat: "pidstat_linux", instance: "7/dd" };
    expect(processFields(process, groups, null)).toEqual(["kb_wr_per_s", "cpu_pct"]);
    expect(processFields({ ...process, instance: "9/x" }, groups, null)).toEqual([]);
  });

  it("has the exact values of its rounded words", () => {
    const values = { ...madeSideValues(10, 4), median: 28_160.123, mean: -2.5 };
    const group = madeGroup(1, {
      column: "wkB/s",
      unit: "KiB/s",
      members: [madeFinding({ instance: "vda", incident: values, baseline: NO_VALUES })],
    });
    const text = describeExactly(group);
    expect(text).toContain("mpstat_linux vda wkB/s. Incident: median 28,160.123, mean −2.5, p5 to p95 ");
    expect(text).toContain(", in KiB/s. Baseline: no samples.");
    expect(describeExactly(madeGroup(1, { members: [] }))).toBe("");
    const process = madeGroup(2, { stat: "pidstat_linux_command", instances: ["dd"] });
    const lines = describeSentence(madeStory(1, [1, 2]), byRank([group, process])).split("\n");
    expect(lines.map((line) => line.split(" ")[0])).toEqual(["pidstat_linux_command", "mpstat_linux"]);
  });
});

describe("what is on one side only", () => {
  it("has no value on the other side, in words", () => {
    const values = madeSideValues(38, 1);
    expect(describeMedians({ baseline: madeSideValues(2, 1), incident: values }, 0, "%")).toBe("2 to 38 %");
    expect(describeMedians({ baseline: NO_VALUES, incident: values }, 0, "%")).toBe("not there, then 38 %");
    expect(describeMedians({ baseline: values, incident: NO_VALUES }, 0, "%")).toBe("38 %, then gone");
    expect(describeMedians({ baseline: NO_VALUES, incident: NO_VALUES }, 0, "%")).toBe("no samples");
  });

  it("is measured by what comes and goes, not by a variability that it does not have", () => {
    expect(describeChangeRatio(12.4, "disappeared")).toBe("12.4x what normally comes and goes");
    expect(describeChangeRatio(12.4, "level")).toBe("12.4x its normal variation");
  });
});

describe("a tick", () => {
  const stats = [
    { name: "pidstat_linux", instance_title: "process" },
    { name: "iostat_linux", instance_title: "device" },
  ];
  const few = (stat: string) => ({ host: "web1", stat, field: "a", instance: "b", n_baseline: 1, n_incident: 1, reason: "" });

  it("is for a result in which everything that matters was judged", () => {
    expect(isAllClear(madeComparison(0), stats)).toBe(true);
    expect(isAllClear(madeComparison(1), stats)).toBe(false);
    expect(isAllClear(madeComparison(0, { n_unchanged: 0 }), stats)).toBe(false);
  });

  it("is not for series that were not judged, save single processes", () => {
    const counts = { appeared: 0, disappeared: 0, insufficient_data: 1, muted: 0 };
    expect(isAllClear(madeComparison(0, { counts, insufficient_data: [few("pidstat_linux")] }), stats)).toBe(true);
    expect(isAllClear(madeComparison(0, { counts, insufficient_data: [few("iostat_linux")] }), stats)).toBe(false);
    expect(isAllClear(madeComparison(0, { counts, insufficient_data: [few("unknown")] }), stats)).toBe(false);
    // A list that is cut short.
    expect(
      isAllClear(
        madeComparison(0, { counts: { ...counts, insufficient_data: 2 }, insufficient_data: [few("pidstat_linux")] }),
        stats,
      ),
    ).toBe(false);
  });
});
