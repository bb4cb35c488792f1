import { describe, expect, test } from "vitest";
import type { ProcessReport, ReportedProcess } from "./api";
import {
  describeReport,
  describeStates,
  formatShownInstant,
  isAboveNormal,
  nextSort,
  normalOf,
  normalsByName,
  overdueBy,
  parseShownInstant,
  sortRows,
  stateParts,
} from "./process_report";
import { toEpochMs } from "./time";

function row(instance: string, values: readonly (number | null)[], user: string | null = null): ReportedProcess {
  const [pid = "", command = ""] = instance.split("/");
  return { instance, command, pid: Number(pid), user, values: [...values], states: [] };
}

const REPORT: ProcessReport = {
  host: "web1",
  at: "2026-11-21T06:59:00Z",
  stat: "pidstat_linux",
  sources: [{ stat: "pidstat_linux", title: "pidstat (Linux)", reported_at: "2026-11-21T06:58:57Z", is_of_threads: false }],
  reported_at: "2026-11-21T06:58:57.250Z",
  interval_s: 5,
  is_of_interval: true,
  previous_at: null,
  next_at: null,
  fields: [],
  states: [],
  rows: [],
  n_found: 0,
  n_users_unread: 0,
  normal_of: "command",
  normals: [],
  baseline: null,
};

describe("the report says when it was made and what it covers", () => {
  test.each([
    [{}, "pidstat (Linux) at 06:58:57, covers 5 s"],
    [{ interval_s: null }, "pidstat (Linux) at 06:58:57, the first report of its run; its interval is unknown"],
    [{ is_of_interval: false }, "pidstat (Linux) at 06:58:57, as it was then"],
    [{ reported_at: null }, null],
  ])("%o", (change, expected) => {
    expect(describeReport({ ...REPORT, ...change }, "UTC")).toBe(expected);
  });

  test("and that it is older than it should be", () => {
    expect(overdueBy(REPORT)).toBeNull();
    expect(overdueBy({ ...REPORT, at: "2026-11-21T07:10:00Z" })).toBe("11 min 2 s");
    expect(overdueBy({ ...REPORT, interval_s: null })).toBeNull();
  });
});

test.each([
  [{ at: toEpochMs(Date.UTC(2026, 10, 21, 6, 58, 57)), stat: null }, "2026-11-21T06:58:57Z"],
  [{ at: toEpochMs(Date.UTC(2026, 10, 21, 6, 58, 57, 250)), stat: "ps_linux" }, "2026-11-21T06:58:57.250Z,ps_linux"],
])("an instant is in the link", (instant, text) => {
  expect(formatShownInstant(instant)).toBe(text);
  expect(parseShownInstant(text)).toEqual(instant);
});

test.each(["", "soon", "2026-11-21T06:58:57", "2026-11-21T06:58:57Z,", "2026-11-21T06:58:57Z,a,b"])(
  "%s is no instant",
  (text) => {
    expect(parseShownInstant(text)).toBeNull();
  },
);

describe("rows are sorted", () => {
  const rows = [row("1/b", [2, null], "x"), row("2/a", [null, 5]), row("3/c", [9, 1], "a")];
  const order = (by: number | "command" | "user", isDescending: boolean) =>
    sortRows(rows, { by, isDescending }).map(({ pid }) => pid);

  test("by a value, those without one last", () => {
    expect(order(0, true)).toEqual([3, 1, 2]);
    expect(order(0, false)).toEqual([1, 3, 2]);
    expect(order(1, true)).toEqual([2, 3, 1]);
  });
  test("by texts", () => {
    expect(order("command", false)).toEqual([2, 1, 3]);
    expect(order("user", false)).toEqual([3, 1, 2]);
  });
  test("a second click turns the order", () => {
    const first = nextSort({ by: "command", isDescending: false }, 1);
    expect(first).toEqual({ by: 1, isDescending: true });
    expect(nextSort(first, 1)).toEqual({ by: 1, isDescending: false });
    expect(nextSort(first, "user")).toEqual({ by: "user", isDescending: false });
  });
});

describe("normal values", () => {
  const java = { name: "java", n_processes: 2, totals: [60, 7], bands: [{ p5: 1, p50: 20, p95: 25 }, null], is_new: false };
  const normals = normalsByName({ normals: [java] });

  test("are those of the command, or of the process where the tool has no sums", () => {
    expect(normalOf(row("7/java", []), normals, "command")).toBe(java);
    expect(normalOf(row("7/java", []), normals, "process")).toBeNull();
    expect(normalOf({ ...row("7/java", []), command: null }, normals, "command")).toBeNull();
  });
  test("are exceeded above p95 only", () => {
    expect([0, 1, 2].map((place) => isAboveNormal(java, place))).toEqual([true, false, false]);
    expect(isAboveNormal({ ...java, totals: [25, 7] }, 0)).toBe(false);
  });
});

describe("the states of a row", () => {
  test("fill a bar of 100 %, or of their sum", () => {
    expect(stateParts(["user", "system", "sleep"], [61, 0, 20])).toEqual([
      { state: "user", value: 61, share: 0.61 },
      { state: "sleep", value: 20, share: 0.2 },
    ]);
    expect(stateParts(["user", "system"], [150, 50]).map(({ share }) => share)).toEqual([0.75, 0.25]);
    expect(stateParts(["user"], [null])).toEqual([]);
  });
  test("are told as text", () => {
    expect(describeStates(stateParts(["user", "cpu_wait"], [61.5, 3]))).toBe("user code 61.5 %, waiting for a CPU 3 %");
    expect(describeStates([])).toBe("no time");
  });
});
