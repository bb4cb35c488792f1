import { describe, expect, it } from "vitest";
import type { HostMetric, HostSeriesAnswer, HostSeriesLine } from "./api";
import {
  decodeHostLines,
  describeHostLines,
  describeMissing,
  describeSource,
  heatmapColumns,
  heatmapRows,
  hostsAt,
  lineRows,
  metricOptions,
  sampleColumns,
  sharedValues,
  toCsv,
  usualMetric,
  zoomRuns,
} from "./host_lines";
import { toEpochMs } from "./time";

const START = "2026-11-21T10:00:00Z";
const T0 = Date.parse(START);

const metric = (change: Partial<HostMetric> = {}): HostMetric => ({
  key: "cpu.usr",
  title: "CPU time of programs",
  unit: "%",
  group: "",
  n_hosts: 2,
  fields: ["vmstat_linux.cpu_us"],
  help: "",
  worse: "higher",
  decimals: 0,
  is_percent: true,
  is_level: false,
  ...change,
});

const line = (host: string, values: (number | null)[], change: Partial<HostSeriesLine> = {}): HostSeriesLine => ({
  host,
  start: null,
  instance: "",
  column: "vmstat_linux.cpu_us",
  across: null,
  n_instances: 1,
  n_raw: values.length,
  mean: values.reduce<number>((sum, value) => sum + (value ?? 0), 0) / values.length,
  axis: 0,
  values,
  n_hosts: null,
  ...change,
});

const answer = (lines: HostSeriesLine[], change: Partial<HostSeriesAnswer> = {}): HostSeriesAnswer => ({
  metric: metric(),
  start: START,
  end: "2026-11-21T10:00:03Z",
  resolution: "raw",
  source: "raw",
  column_ms: 10,
  step_ms: null,
  n_asked: lines.length,
  n_hosts: lines.length,
  n_raw: 6,
  n_points: 6,
  n_lines_left_out: 0,
  left_out: [],
  axes: [{ start_ms: T0, step_ms: 1000, n: 3, jumps: [] }],
  lines,
  ...change,
});

const decode = (...given: Parameters<typeof answer>) => decodeHostLines(answer(...given), "UTC");

describe("lines of several hosts", () => {
  it("are named by their hosts, by instance or start only where a host has several", () => {
    const names = (...lines: HostSeriesLine[]) => decode(lines).lines.map(({ name }) => name);
    expect(names(line("a", [1, 2, 3]), line("b", [1, 2, 3], { instance: "all" }))).toEqual(["a", "b"]);
    expect(names(line("a", [1, 2, 3], { instance: "0" }), line("a", [1, 2, 3], { instance: "1" }))).toEqual(["a 0", "a 1"]);
    expect(names(line("a", [1, 2, 3], { start: START }))).toEqual(["a, from 2026-11-21 10:00:00"]);
    expect(names(line("", [1, 2, 3], { across: "p95", n_hosts: [2, 2, 2] }))).toEqual(["95th percentile of all hosts"]);
  });

  it("are refused if they do not fit their axis", () => {
    expect(() => decode([line("a", [1, 2])])).toThrow("Inconsistent response");
  });

  it("say what they are read from", () => {
    const [one, all] = decode([
      line("a", [1, 2, 3], { instance: "all" }),
      line("b", [1, 2, 3], { across: "avg", n_instances: 64 }),
    ]).lines;
    expect(describeSource(one!)).toBe("vmstat_linux.cpu_us, all");
    expect(describeSource(all!)).toBe("vmstat_linux.cpu_us, average of 64 instances");
  });

  it("say how many hosts and samples are drawn", () => {
    const two = [line("a", [1, 2, 3]), line("b", [1, 2, 3])];
    expect(describeHostLines(decode(two))).toBe("2 hosts; raw: all 6 samples");
    expect(describeHostLines(decode(two, { n_asked: 3, step_ms: 20_000, resolution: "steps" }))).toBe(
      "2 of 3 hosts; 6 samples in steps of 20 s",
    );
    expect(describeHostLines(decode(two, { n_lines_left_out: 4 }))).toContain("; 4 lines not drawn");
  });

  it("know in how many steps of a sum hosts are missing", () => {
    const sum = line("", [5, null, 3], { across: "sum", n_hosts: [2, 0, 1] });
    const block = decode([sum], { n_hosts: 2, resolution: "steps", step_ms: 1000 });
    expect(describeMissing(block)).toMatch(
      /^In 1 of 2 steps some hosts have no samples and only the others are counted \(at least 1 of 2\)/,
    );
    expect(hostsAt(block.lines[0]!, toEpochMs(T0 + 2100), 500)).toBe(1);
    expect(hostsAt(block.lines[0]!, toEpochMs(T0 + 1000), 500)).toBeNull();
    expect(describeMissing(decode([line("a", [1, 2, 3])]))).toBe("");
  });

  it("are sorted from the worst on, also where less is worse", () => {
    const both = [line("a", [1, 9, 1]), line("b", [5, 5, 5])];
    const order = (given: Partial<HostMetric>, by: Parameters<typeof lineRows>[1]) =>
      lineRows(decode(both, { metric: metric(given) }), by).map((row) => row.line.host);
    expect(order({}, "mean")).toEqual(["b", "a"]);
    expect(order({}, "highest")).toEqual(["a", "b"]);
    expect(order({ worse: "lower" }, "lowest")).toEqual(["a", "b"]);
    expect(order({}, "name")).toEqual(["a", "b"]);
  });

  it("share one scale and one grid of cells", () => {
    const block = decode([line("a10", [1, 9, 1]), line("a9", [5, null, 50])]);
    expect(sharedValues(block)).toEqual([1, 9, 5, 50]);
    expect(heatmapRows(block).buckets.map(({ label }) => label)).toEqual(["a10", "a9"]);
    const window = { start: toEpochMs(T0), end: toEpochMs(T0 + 3000) };
    expect(heatmapColumns(block, window)).toBeNull();
    expect(sampleColumns(block, window, 100)).toEqual({ start_ms: T0, step_ms: 1000, n: 3 });
    const steps = decode([line("a", [1, 2, 3])], { step_ms: 2000, resolution: "steps" });
    expect(heatmapColumns(steps, window)).toEqual({ start_ms: T0, step_ms: 2000, n: 2 });
  });

  it("are exported as they are drawn", () => {
    const text = toCsv(decode([line('=a,"b', [-1.5, null, 3])]));
    expect(text.split("\r\n")).toEqual([
      "time,host,instance,column,value,unit,n_hosts",
      `2026-11-21T10:00:00Z,"'=a,""b",,vmstat_linux.cpu_us,-1.5,%,`,
      `2026-11-21T10:00:02Z,"'=a,""b",,vmstat_linux.cpu_us,3,%,`,
      "",
    ]);
    const runs = toCsv(decode([line("a", [1, 2, 3], { start: START })]));
    expect(runs.split("\r\n")[2]).toBe("1,a@2026-11-21T10:00:00Z,,vmstat_linux.cpu_us,2,%,");
  });
});

describe("the choice of a metric", () => {
  const some = [metric({ n_hosts: 1, key: "x" }), metric(), metric({ key: "s.f", group: "vmstat", title: "us", n_hosts: 2 })];

  it("lists what most hosts have first, and says how many have the others", () => {
    expect(metricOptions(some, 2).map(({ group, items }) => [group, items.map(({ label }) => label)])).toEqual([
      ["The same on every system", ["CPU time of programs (%)", "CPU time of programs (%), 1 of 2 hosts"]],
      ["vmstat", ["us (%)"]],
    ]);
  });

  it("begins with the first that most hosts have", () => {
    expect(usualMetric(some)).toBe("cpu.usr");
    expect(usualMetric([])).toBeNull();
  });
});

it("zooms runs into a part of their elapsed time", () => {
  const zoomed = zoomRuns([{ host: "a", start: toEpochMs(T0) }], { start: toEpochMs(60_000), end: toEpochMs(90_000) });
  expect(zoomed).toEqual([{ host: "a", start: T0 + 60_000 }]);
});
