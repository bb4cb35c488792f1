import { describe, expect, test } from "vitest";
import type { LedgerLine, LedgerPart } from "./api";
import { madeLedgerLine, madeLedgerPart } from "./comparison_fixture";
import {
  barOf,
  culpritsOf,
  describeAmount,
  describeChange,
  describeNormal,
  describeNow,
  describeReason,
  describeShare,
  describeTaken,
  describeUnseen,
  drawnLine,
  farthestWindows,
  formatAmount,
  leadingLine,
  lineTitle,
  partTree,
  stripOf,
} from "./ledger";

const GIB = 2 ** 20;
const MEMORY: Partial<LedgerLine> = { resource: "memory", unit: "KiB", capacity: 23.6 * GIB, instance: "" };

function names(parts: readonly LedgerPart[]): readonly string[] {
  return parts.map(({ name }) => name);
}

describe("an amount", () => {
  test.each([
    [0, "%", "0 %"],
    [98.4, "%", "98 %"],
    [1.24, "%", "1.2 %"],
    [-9.3, "%", "−9.3 %"],
    [1.3 * GIB, "KiB", "1.3 GiB"],
    [1.806 * GIB, "KiB/s", "1.81 GiB/s"],
    [296.2, "KiB/s", "296 KiB/s"],
    [10.55, "1/s", "10.6/s"],
    [54, "requests/s", "54 requests/s"],
  ])("%d %s is %s", (value, unit, text) => {
    expect(formatAmount(value, unit)).toBe(text);
  });
});

describe("a line", () => {
  test("tells CPU time as a part of all CPUs", () => {
    expect([describeNow(madeLedgerLine()), describeNormal(madeLedgerLine())]).toEqual(["98 %", "12 to 19 %"]);
  });

  test("tells memory with the capacity, and a unit that both share once", () => {
    const line = madeLedgerLine({ ...MEMORY, incident: 1.3 * GIB, low: GIB / 2, high: 1.2 * GIB });
    expect([describeNow(line), describeNormal(line)]).toEqual(["1.3 of 23.6 GiB", "512 MiB to 1.2 GiB"]);
  });

  test("tells requests of a disk, and other rates as such", () => {
    expect(describeNow(madeLedgerLine({ resource: "disk", unit: "1/s", capacity: null, incident: 427 }))).toBe("427 requests/s");
    const forks = madeLedgerLine({ resource: "processes", unit: "1/s", capacity: null, incident: 427, low: 0, high: 46.2 });
    expect([describeNow(forks), describeNormal(forks)]).toEqual(["427/s", "0 to 46.2/s"]);
  });

  test("draws the total of the sentence that leads a story, in its unit", () => {
    const side = { n: 2, mean: 30, median: 30, p5: 24, p95: 38, p99: 38, lowest: 24, highest: 38, quantiles: [24, 38] };
    const sparkline = { low: [190, null], high: [200, null], start_ms: 0, end_ms: 60_000, baseline: null };
    const drawn = { baseline: side, incident: { ...side, quantiles: null }, sparkline, onset_ms: null };
    const ledger = [madeLedgerLine({ host: "web2", drawn }), madeLedgerLine({ drawn })];
    const line = leadingLine({ hosts: ["web1"], resource: "cpu" }, ledger);
    expect(line && [line.host, lineTitle(line), drawnLine(line)]).toEqual([
      "web1",
      "CPU",
      {
        unit: "%",
        baseline: { n: 2, mean: 15, median: 15, p5: 12, p95: 19, p99: 19, lowest: 12, highest: 19, quantiles: [12, 19] },
        incident: { n: 2, mean: 15, median: 15, p5: 12, p95: 19, p99: 19, lowest: 12, highest: 19, quantiles: null },
        sparkline: { low: [95, null], high: [100, null], start_ms: 0, end_ms: 60_000, baseline: null },
      },
    ]);
    expect(leadingLine({ hosts: ["web1"], resource: null }, ledger)).toBeNull();
    expect(leadingLine({ hosts: ["web1"], resource: "disk" }, ledger)).toBeNull();
  });

  test("has a bar up to its capacity, or a little beyond what is known", () => {
    expect(barOf(madeLedgerLine())).toEqual({ low: 12, width: 7, now: 98, isWhole: true });
    const { now, isWhole } = barOf(madeLedgerLine({ capacity: null, incident: 100, high: 115 }));
    expect([Math.round(now), isWhole]).toEqual([76, false]);
    expect(barOf(madeLedgerLine({ capacity: null, low: 0, high: 0, incident: 0 })).now).toBe(0);
  });

  test("gives the reason of its certainty", () => {
    expect(describeReason(madeLedgerLine())).toBe(
      "3.1 times as far outside its normal range as a normal window goes; 79 % of the capacity is more or less than normal.",
    );
    expect(describeReason(madeLedgerLine({ capacity: null, ratio: 12.3 }))).toBe(
      "12 times as far outside its normal range as a normal window goes.",
    );
    expect(describeReason(madeLedgerLine({ ratio: 0, outside: 0 }))).toBe("within its normal range.");
    expect(describeReason(madeLedgerLine({ ratio: 0.2, outside: 3 }))).toContain("no farther outside");
  });
});

describe("who did it", () => {
  const first = madeLedgerPart();
  const other = (name: string, change: Partial<LedgerPart>) => madeLedgerPart({ name, is_new: false, ...change });

  test("is whom the sentence names, and none of a line that is as normal", () => {
    const parts = [first, other("node", {}), other("sh", { is_culprit: false })];
    expect(names(culpritsOf(madeLedgerLine({ parts })))).toEqual(["yes (812)", "node"]);
    expect(culpritsOf(madeLedgerLine({ parts, certainty: "nothing" }))).toEqual([]);
  });

  test("is shown with its amount, CPU time in that of one CPU", () => {
    expect([describeTaken(first), describeShare(first), describeChange(first)]).toEqual([
      "170 % of a CPU",
      "97 % of the rise",
      "+170 %",
    ]);
    const gone = other("tar", { is_gone: true, baseline: 50, incident: 0, change: -50, share: 0.5 });
    expect([describeTaken(gone), describeShare(gone)]).toEqual(["50 % of a CPU in the baseline", "50 % of the fall"]);
    const written = other("dd", { quantity: "written", unit: "KiB/s", incident: 1.81 * GIB });
    expect(describeAmount(written, written.incident)).toBe("wrote 1.81 GiB/s");
    const blocked = other("dd", { quantity: "blocked", unit: "tasks", incident: 0.5 });
    expect([describeAmount(blocked, blocked.incident), describeShare(blocked)]).toEqual([
      "waited for a disk 50 % of the time",
      "",
    ]);
  });

  test("is said to be unknown in the words of the resource", () => {
    expect(describeUnseen(madeLedgerLine({ parts: [] }))).toMatch(/^Not seen: processes too short/);
    expect(describeUnseen(madeLedgerLine({ parts: [], remainder: null }))).toBe("No recorded tool shows who");
    const quiet = madeLedgerLine({ resource: "disk", parts: [], remainder: null, certainty: "nothing" });
    expect(describeUnseen(quiet)).toBe("No recorded process took much more or less");
    expect(describeUnseen(madeLedgerLine({ note: "the agent may not read it" }))).toBe("the agent may not read it");
  });
});

describe("the windows of the baseline", () => {
  test("lie on a strip with the incident; where nothing moved there is none", () => {
    const strip = stripOf({ windows: [20, 30, 40], incident: 120, low: 20, high: 40 });
    expect(strip).toEqual({ windows: [0, 0.1, 0.2], incident: 1, low: 0, high: 0.2 });
    expect(stripOf({ windows: [3, 3], incident: 3, low: 3, high: 3 })).toBeNull();
    expect(stripOf({ windows: [], incident: 3, low: 3, high: 3 })).toBeNull();
  });

  test("that moved most are told with their time, in the measure of the line", () => {
    const line = madeLedgerLine({ windows: [30, 38, 20, 150, 31], window_starts_ms: [0, 45_000, 90_000, 135_000, 180_000] });
    expect(farthestWindows(line)).toEqual([
      { window: { start: 135_000, end: 180_000 }, amount: "75 %" },
      { window: { start: 90_000, end: 135_000 }, amount: "10 %" },
    ]);
  });
});

describe("the parts of a line", () => {
  test("stand below their unit, and those of no listed unit after the units", () => {
    const unit = madeLedgerPart({ name: "web.service", kind: "unit", command: "", pids: [], instance: "web.service" });
    const own = madeLedgerPart({ of_unit: "web.service" });
    const read = madeLedgerPart({ name: "dd (9)", of_unit: "web.service", quantity: "read" });
    const other = madeLedgerPart({ name: "sh (7)", of_unit: "cron.service" });
    const line = madeLedgerLine({ units: [unit], parts: [own, read, other] });
    const tree = partTree(line);
    expect(tree.units.map(({ unit: { name }, parts }) => [name, names(parts)])).toEqual([["web.service", ["yes (812)"]]]);
    expect(names(tree.others)).toEqual(["dd (9)", "sh (7)", "not seen"]);
  });

  test("of a GPU and of a unit at its limit say what they are about", () => {
    expect(lineTitle(madeLedgerLine({ resource: "gpu", name: "GPU 1", instance: "1" }))).toBe("GPU 1");
    const line = madeLedgerLine({ resource: "memory_limit", instance: "web", unit: "1/min", capacity: null, incident: 3 });
    expect([lineTitle(line), describeNow(line)]).toEqual(["Memory limit web", "3 killed/min"]);
  });
});
