/** A synthetic comparison for tests, with any number of groups and all kinds of change. */

import type { Comparison, Finding, FindingGroup, LedgerLine, LedgerPart, SideValues, Sparkline, Story } from "./api";
import { FINDING_KINDS, SUBSYSTEMS } from "./group";

const START = Date.UTC(2026, 10, 21, 9, 35);
const N_COLUMNS = 160;
const N_QUANTILES = 33;

/** A small random number generator: the same seed gives the same comparison. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export function madeSideValues(level: number, spread: number): SideValues {
  const quantiles = [...Array(N_QUANTILES).keys()].map((index) => level + spread * (index / (N_QUANTILES - 1) - 0.5));
  const at = (share: number): number => level + spread * (share - 0.5);
  return {
    n: 600,
    mean: level,
    median: level,
    p5: at(0.05),
    p95: at(0.95),
    p99: at(0.99),
    lowest: at(0),
    highest: at(1),
    quantiles,
  };
}

export const NO_VALUES: SideValues = {
  n: 0,
  mean: null,
  median: null,
  p5: null,
  p95: null,
  p99: null,
  lowest: null,
  highest: null,
  quantiles: null,
};

function madeSparkline(random: () => number, level: number, spread: number): Sparkline {
  const columns = (shift: number): { low: (number | null)[]; high: (number | null)[] } => {
    const low = [...Array(N_COLUMNS).keys()].map((index) => (index === 70 ? null : level + shift - spread * random()));
    return { low, high: low.map((value) => (value === null ? null : value + spread * random())) };
  };
  return { start_ms: START, end_ms: START + 600_000, ...columns(0), baseline: columns(-level / 2) };
}

export function madeFinding(change: Partial<Finding>): Finding {
  return {
    instance: "",
    kind: "level",
    baseline: madeSideValues(10, 4),
    incident: madeSideValues(20, 6),
    direction: "up",
    is_worse: true,
    change_scale: 1,
    change: 10,
    change_ratio: 10,
    change_ratios: { value: 10, top: 5, bottom: 0, step: 1, still: 0, missing: 0, load: 0 },
    significance: 6,
    certainty: "sure",
    explained_by_load: 0,
    anomaly_score: 0.3,
    impact: 0.1,
    sentence: "it rose from 10 to 20",
    sparkline: null,
    ...change,
  };
}

export function madeGroup(rank: number, change: Partial<FindingGroup> = {}): FindingGroup {
  return {
    rank,
    host: "web1",
    stat: "mpstat_linux",
    field: "usr",
    column: "%usr",
    unit: "%",
    help: "time in programs",
    subsystem: "cpu",
    kind: "level",
    direction: "up",
    is_worse: true,
    change_ratio: 10,
    significance: 6,
    certainty: "sure",
    impact: 0.1,
    anomaly_score: 1,
    sentence: "%usr rose",
    n_members: 1,
    n_instances: 1,
    instances: [""],
    members: [madeFinding({})],
    related: [],
    questions: [],
    ...change,
  };
}

/** A story of the given groups, with a new process. */
export function madeStory(rank: number, ranks: readonly number[], change: Partial<Story> = {}): Story {
  return {
    rank,
    hosts: ["web1"],
    topic: "disk",
    title: "Disk I/O",
    sentence: "dd (29206), which is new, wrote 1.81 GiB/s; vda was busy 83 % of the time (normally 0 to 6 %).",
    anomaly_score: 1 / rank,
    significance: 6,
    impact: 0.5,
    is_worse: true,
    onset_ms: START + 12_400,
    processes: [
      {
        host: "web1",
        stat: "pidstat_linux_command",
        instance: "dd",
        name: "dd (29206)",
        pids: [29206],
        change: "new",
        start_ms: START + 12_000,
        sentence: "dd (29206), which is new, wrote 1.81 GiB/s",
        origin: "user root; started by bash (812)",
      },
    ],
    lines: ranks
      .slice(0, 2)
      .map((line, index) => ({
        rank: line,
        role: index === 0 ? "busy" : "detail",
        text: index === 0 ? "vda was busy 83 % of the time (normally 0 to 6 %)" : `detail ${String(line)}`,
      })),
    also_seen_by: ["bo (vmstat)", "pgpgout/s (proc)"],
    ranks: [...ranks],
    ...change,
  };
}

/** A user of a resource: a new process that took 85 of 100 % of a CPU more. */
export function madeLedgerPart(change: Partial<LedgerPart> = {}): LedgerPart {
  return {
    name: "yes (812)",
    stat: "linux_process",
    instance: "812/yes",
    kind: "process",
    command: "yes",
    pids: [812],
    quantity: "cpu",
    unit: "%",
    baseline: 0,
    incident: 170,
    low: 0,
    high: 0,
    change: 170,
    share: 0.97,
    is_outside: true,
    is_new: true,
    is_gone: false,
    start_ms: null,
    is_culprit: true,
    windows: [0, 0, 0],
    of_unit: "",
    ...change,
  };
}

/** What two CPUs did. */
export function madeLedgerLine(change: Partial<LedgerLine> = {}): LedgerLine {
  return {
    host: "web1",
    resource: "cpu",
    name: "the CPUs",
    stat: "linux_cpu",
    fields: ["idle_pct", "iowait_pct"],
    instance: "all",
    unit: "%",
    capacity: 200,
    baseline: 30,
    incident: 196,
    low: 24,
    high: 38,
    change: 166,
    outside: 158,
    is_full: false,
    certainty: "sure",
    ratio: 3.14,
    weight: 0.79,
    parts: [madeLedgerPart()],
    units: [],
    remainder: madeLedgerPart({
      name: "not seen",
      stat: "",
      instance: "",
      kind: "remainder",
      command: "",
      pids: [],
      incident: 4,
      low: 1,
      high: 5,
      change: 1,
      share: null,
      is_outside: false,
      is_new: false,
      is_culprit: false,
      windows: [1, 3, 5],
    }),
    window_s: 45,
    window_starts_ms: [START - 135_000, START - 90_000, START - 45_000],
    windows: [30, 38, 24],
    sentence: "yes (812), which is new, used 170 % of a CPU; the CPUs were busy 98 % of the time (normally 12 to 19 %).",
    note: "",
    limit: null,
    ...change,
  };
}

export function madeComparison(nGroups: number, change: Partial<Comparison> = {}): Comparison {
  const random = randomFrom(nGroups + 1);
  const groups = [...Array(nGroups).keys()].map((index) => {
    const nMembers = index % 3 === 0 ? 61 : 1;
    const instances = [...Array(nMembers).keys()].map((cpu) => String(cpu));
    const kind = FINDING_KINDS[index % FINDING_KINDS.length] ?? "level";
    return madeGroup(index + 1, {
      field: `usr_${String(index)}`,
      kind,
      subsystem: SUBSYSTEMS[index % SUBSYSTEMS.length] ?? "other",
      change_ratio: 100 / (index + 1),
      impact: 1 / (index + 2),
      sentence: `%usr ${String(index)} rose from 10 to 20 % on ${String(nMembers)} of 64 CPUs`,
      n_members: nMembers,
      n_instances: 64,
      instances,
      members: instances
        .slice(0, 20)
        .map((instance) =>
          madeFinding({
            instance,
            kind,
            change_ratio: 100 / (index + 1),
            incident: madeSideValues(20 + 60 * random(), 10),
            sparkline: madeSparkline(random, 20 + 60 * random(), 8),
          }),
        ),
      related: ["%sys rose with it"],
      questions: [
        {
          why: "Time in programs is high: which functions take it?",
          commands: [{ command: "perf top -a", note: "live, by function", needs: "root", source: "perf-top(1)", keep: "" }],
        },
      ],
    });
  });
  return {
    hosts: ["web1"],
    start: "2026-11-21T09:35:00Z",
    end: "2026-11-21T09:45:00Z",
    method_version: 2,
    against: {
      kind: "baseline",
      name: "Quiet hour",
      baseline_id: 1,
      version: 1,
      windows: [{ start: "2026-11-21T08:00:00Z", end: "2026-11-21T09:00:00Z" }],
      host: null,
    },
    divisor: null,
    sides: {
      baseline: { covered_s: 3600, n_samples: 3600, n_rows_skipped: 0 },
      incident: { covered_s: 600, n_samples: 600, n_rows_skipped: 0 },
    },
    is_seasonal: false,
    divisor_note: "",
    seasonal_note: "The baseline covers less than two days, so hours of the day were not told apart.",
    n_series: 1310,
    n_unchanged: 1310 - nGroups,
    n_findings: nGroups,
    n_groups: nGroups,
    verdict: nGroups === 0 ? "No unusual change in 1,310 series." : `${String(nGroups)} groups changed.`,
    groups,
    appeared: [],
    disappeared: [],
    insufficient_data: [],
    muted: [],
    counts: { appeared: 0, disappeared: 0, insufficient_data: 0, muted: 0 },
    spec_versions: {},
    elapsed_ms: 321,
    ...change,
  };
}
