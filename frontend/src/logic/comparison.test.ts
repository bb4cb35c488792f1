import { describe, expect, it } from "vitest";
import type { Comparison, Finding, Summary } from "./api";
import { filterBaselines, totalLength } from "./baseline";
import { describeCounts, filterSeries, markOf, overlayWindow, seriesTitle, sortFindings } from "./comparison";
import { describeClockOffset, filterHosts, kindsToShow, totalLines } from "./host";
import { newPasswordProblem, rolesUpTo, sortTokens } from "./account";
import { toEpochMs, toIso } from "./time";

const summary = (median: number): Summary => ({ n: 10, median, p5: 0, p95: 1, p99: 1, lowest: 0, highest: 1 });

const finding = (rank: number, change: Partial<Finding>): Finding => ({
  rank,
  stat: "vmstat_linux",
  instance: "",
  field: "cpu_us",
  column: "us",
  unit: "%",
  kind: "level",
  baseline: summary(10),
  incident: summary(20),
  shift: 10,
  scale: 1,
  score: 10,
  ks: 0.5,
  impact: 0.1,
  direction: "up",
  is_worse: null,
  sentence: "vmstat cpu us rose",
  help: "",
  ...change,
});

describe("findings", () => {
  const findings = [
    finding(1, { ks: 0.2, score: 9, shift: 1, stat: "mpstat_linux", instance: "10" }),
    finding(2, { ks: 0.9, score: 12, shift: -50, stat: "mpstat_linux", instance: "9" }),
    finding(3, { ks: 0.9, score: 3, baseline: summary(0), shift: 0.1, stat: "iostat_linux", field: "await_ms", column: "await" }),
  ];
  const ranks = (list: readonly Finding[]): number[] => list.map(({ rank }) => rank);

  it("can be put into another order; equals stay in that of their rank", () => {
    expect(ranks(sortFindings(findings, "rank"))).toEqual([1, 2, 3]);
    expect(ranks(sortFindings(findings, "ks"))).toEqual([2, 3, 1]);
    expect(ranks(sortFindings(findings, "score"))).toEqual([2, 1, 3]);
    expect(ranks(sortFindings(findings, "stat"))).toEqual([3, 2, 1]);
    expect(ranks(sortFindings(findings, "field"))).toEqual([3, 1, 2]);
  });

  it("from zero moved infinitely far for their level", () => {
    expect(ranks(sortFindings(findings, "shift"))).toEqual([3, 2, 1]);
  });

  it("are filtered by words, and without words", () => {
    const text = ({ sentence }: Finding): string => sentence;
    expect(ranks(filterSeries(findings, "MPSTAT 9", text))).toEqual([2]);
    expect(ranks(filterSeries(findings, "-mpstat", text))).toEqual([3]);
    expect(ranks(filterSeries(findings, "  ", text))).toEqual([1, 2, 3]);
    expect(ranks(filterSeries(findings, "-", text))).toEqual([]);
  });

  it("are marked in words", () => {
    expect(markOf({ direction: "up", is_worse: true })).toEqual({ verdict: "worse", arrow: "up" });
    expect(markOf({ direction: "down", is_worse: false })).toEqual({ verdict: "better", arrow: "down" });
    expect(markOf({ direction: "same", is_worse: null })).toEqual({ verdict: "changed", arrow: "same" });
  });

  it("are named by stat, instance and column even when the catalogue does not know them", () => {
    expect(seriesTitle(null, { stat: "s", instance: "", field: "x_kb" })).toBe("s · x_kb");
    expect(seriesTitle(null, { stat: "s", instance: "sda", field: "x_kb" })).toBe("s · sda · x_kb");
  });

  it("are drawn over a piece of the baseline that is as long as the incident", () => {
    const at = (ms: number): string => toIso(toEpochMs(ms));
    const incident = { start: toEpochMs(9e6), end: toEpochMs(9e6 + 6e5) };
    const baseline = [
      { start: at(0), end: at(1e5) },
      { start: at(2e6), end: at(5e6) },
    ];
    expect(overlayWindow(baseline, incident)).toEqual({ start: 2e6, end: 2.6e6 });
    expect(overlayWindow(baseline.slice(0, 1), incident)).toEqual({ start: 0, end: 1e5 });
    expect(overlayWindow([], incident)).toBeNull();
  });

  it("are counted together with what is not one", () => {
    const counts = { n_series: 187, n_compared: 173, n_findings: 18, n_unchanged: 155, n_one_sided: 14, n_thin: 0 };
    expect(describeCounts(counts as Comparison)).toBe(
      "187 series on this host: 173 compared, of which 18 differ and 155 do not; 14 on one side only, 0 with too few samples",
    );
  });
});

describe("lists", () => {
  it("filter baselines and add up their windows", () => {
    const baseline = {
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
      archived_at: null,
      profile: null,
      created_by: "admin",
      created_at: "2026-11-21T09:10:00Z",
      updated_at: "2026-11-21T09:10:00Z",
    };
    expect(filterBaselines([baseline], "web deploy")).toHaveLength(1);
    expect(filterBaselines([baseline], "web2")).toHaveLength(0);
    expect(totalLength(baseline)).toBe(900_000);
  });

  it("say how far a clock is off, but not that whole seconds were sent", () => {
    expect(describeClockOffset(null)).toBe("–");
    expect(describeClockOffset(-1.4)).toBe("in time");
    expect(describeClockOffset(-12.2)).toBe("−12 s");
    expect(describeClockOffset(3_600)).toBe("+60 min");
  });

  it("account for every line", () => {
    const counts = { header: 2, sample: 10, since_boot: 1, timestamp: 0, state_change: 0, ignored: 0, rejected: 0 };
    expect(totalLines(counts)).toBe(13);
    expect(kindsToShow([counts]).map(({ key }) => key)).toEqual(["sample", "header", "since_boot", "rejected"]);
  });

  it("filter hosts by name and system", () => {
    const host = { name: "web1", os: "SunOS 5.10" } as Parameters<typeof filterHosts>[0][number];
    expect(filterHosts([host], "sunos web")).toHaveLength(1);
    expect(filterHosts([host], "linux")).toHaveLength(0);
  });

  it("of tokens put those that work first", () => {
    const token = (id: number, created_at: string, revoked_at: string | null) => ({
      id,
      name: "",
      host: null,
      role: null,
      created_at,
      last_used_at: null,
      revoked_at,
    });
    const sorted = sortTokens([token(1, "2026-01-01", null), token(2, "2026-01-03", "2026-01-04"), token(3, "2026-01-02", null)]);
    expect(sorted.map(({ id }) => id)).toEqual([3, 1, 2]);
  });

  it("know what is wrong with a password and which roles may be given", () => {
    expect(newPasswordProblem("short", "short").next).not.toBeNull();
    expect(newPasswordProblem("long enough", "long enough")).toEqual({ next: null, again: null });
    expect(newPasswordProblem("long enough", "other").again).toBe("not the same");
    expect(rolesUpTo("operator")).toEqual(["viewer", "operator"]);
  });
});
