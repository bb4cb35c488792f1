import { describe, expect, test } from "vitest";
import type { ListedProcess, ProcessLife, StatInfo } from "./api";
import {
  formatQuantity,
  formatQuantityRange,
  lifeWindow,
  processOf,
  processPanels,
  sortByQuantity,
  tableRowsOf,
  visibleRows,
} from "./process";
import { toEpochMs } from "./time";

const AT = "2026-11-22T00:00:00Z";

function listed(instance: string, command: string, pid: number | null): ListedProcess {
  return { instance, command, pid, first_sample_at: AT, last_sample_at: AT, n_samples: 1, mean: [], max: [] };
}

describe("an instance is a process or a command", () => {
  test.each([
    ["process", "7900/java", { command: "java", pid: 7900 }],
    ["process", "12/tmux: server", { command: "tmux: server", pid: 12 }],
    ["process", "9/kworker/0:1-events", { command: "kworker", pid: 9 }],
    // Threads of pidstat -t.
    ["process", "1312/1313/worker", null],
    ["process", "1313/|__worker", null],
    ["process", "all", null],
    ["command", "java", { command: "java", pid: null }],
    ["device", "7/sda", null],
  ])("%s %s", (instance_title, instance, expected) => {
    expect(processOf({ instance_title }, instance)).toEqual(expected);
  });

  test("of an unknown stat is none", () => {
    expect(processOf(null, "7/java")).toBeNull();
  });
});

test.each([
  [null, "%", "–"],
  [0, "%", "0 %"],
  [12.345, "%", "12.3 %"],
  [1_929_379, "KiB/s", "1.84 GiB/s"],
  [24, "KiB/s", "24 KiB/s"],
  [3, "processes", "3"],
  [0.25, "1/s", "0.25"],
])("%s %s is %s", (value, unit, expected) => {
  expect(formatQuantity(value, unit)).toBe(expected);
});

test.each([
  [0.2, 0.6, "%", "0.20–0.60 %"],
  [0, 0.2, "%", "0–0.20 %"],
  [0, 0, "%", "0 %"],
  [0.001, 0.002, "%", "0.00 %"],
  [512, 4096, "KiB/s", "0.50–4 MiB/s"],
  [1, 3, "threads", "1–3"],
])("a range of %f to %f %s has its unit once", (low, high, unit, expected) => {
  expect(formatQuantityRange(low, high, unit)).toBe(expected);
});

test("the processes of the opened command come after it", () => {
  const commands = [listed("sh", "sh", null), listed("java", "java", null)];
  const rows = tableRowsOf(commands, "sh", [listed("7/sh", "sh", 7)]);
  expect(rows.map(({ process, isChild }) => [process.instance, isChild])).toEqual([
    ["sh", false],
    ["7/sh", true],
    ["java", false],
  ]);
});

test("only rows on the screen are drawn", () => {
  expect(visibleRows(10_000, 30, 0, 600)).toEqual([0, 32]);
  expect(visibleRows(10_000, 30, 30_000, 600)).toEqual([988, 1032]);
  expect(visibleRows(10_000, 30, 299_400, 600)).toEqual([9968, 10_000]);
  // The list has become shorter than the place that was scrolled to.
  expect(visibleRows(5, 30, 300_000, 600)).toEqual([5, 5]);
});

test("a life lasts from its beginning to the last report with it", () => {
  const facts = {
    user: null,
    parent_pid: null,
    parent_command: null,
    arguments: null,
    began_at: "2026-11-22T00:00:01Z",
    unit: null,
  };
  const life: ProcessLife = {
    facts,
    first_sample_at: "2026-11-22T00:00:05Z",
    last_sample_at: "2026-11-22T00:00:10Z",
    last_seen_at: "2026-11-22T00:00:20Z",
    gone_at: null,
    is_running: true,
  };
  const shown = { start: toEpochMs(0), end: toEpochMs(1) };
  const window = (from: string, to: string) => ({ start: toEpochMs(Date.parse(from)), end: toEpochMs(Date.parse(to)) });
  expect(lifeWindow(life, shown)).toEqual(window("2026-11-22T00:00:01Z", "2026-11-22T00:00:20Z"));
  const one = { ...life, facts: { ...facts, began_at: null }, last_sample_at: life.first_sample_at, last_seen_at: null };
  expect(lifeWindow(one, shown)).toEqual(shown);
});

test("a process has a graph for each quantity of each stat", () => {
  const field = (key: string, unit: string) => ({ key, unit, column: key });
  const stat = {
    name: "linux_process",
    title: "Processes",
    fields: [field("cpu_pct", "%"), field("usr_pct", "%"), field("rss_kb", "KiB"), field("kb_wr_per_s", "KiB/s")],
  } as unknown as StatInfo;
  const series = {
    stat: "linux_process",
    title: "Processes",
    instance: "7/java",
    is_command: false,
    fields: ["cpu_pct", "usr_pct", "rss_kb"],
    first_sample_at: AT,
    last_sample_at: AT,
  };
  const panels = processPanels({ series: [series, { ...series, stat: "gone" }] }, [stat]);
  expect(panels.map(({ title, fields, choice }) => [title, fields.map(({ key }) => key), choice])).toEqual([
    ["CPU", ["cpu_pct", "usr_pct"], { kind: "only", names: ["7/java"] }],
    ["Memory", ["rss_kb"], { kind: "only", names: ["7/java"] }],
  ]);
});

test("rows are in the order of the column that says so, those without a value last", () => {
  const rows = [1, null, 3].map((mean, pid) => ({ ...listed(`${String(pid)}/x`, "x", pid), mean: [0, mean] }));
  const fields = [{ quantity: "cpu" }, { quantity: "memory" }];
  expect(sortByQuantity(rows, fields, "memory").map(({ pid }) => pid)).toEqual([2, 0, 1]);
  expect(sortByQuantity(rows, fields, "threads")).toBe(rows);
  expect(sortByQuantity(rows, fields, null)).toBe(rows);
});
