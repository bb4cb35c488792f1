import { describe, expect, it } from "vitest";
import type { UseMatrix } from "./api";
import { madeCell as cell } from "./use_fixture";
import { cellsOf, countHosts, countStates, hiddenUnits, limitsOf, metricOf, searchHosts } from "./use_matrix";

describe("the USE matrix", () => {
  const matrix: UseMatrix = {
    host: "web1",
    start: "2026-11-16T08:00:00Z",
    end: "2026-11-16T08:05:00Z",
    n_units: 3,
    rows: [
      {
        resource: "disk",
        title: "Disks",
        limits: "",
        cells: [cell("errors", "not_recorded"), cell("utilisation", "critical", "util_pct", "vda")],
      },
      { resource: "cpu", title: "CPUs", limits: "", cells: [cell("saturation", "warning", "aqu_sz")] },
    ],
  };

  it("has its cells in the order of the columns, and none where the checklist has no question", () => {
    expect(matrix.rows.map((row) => cellsOf(row).map((own) => own?.state ?? null))).toEqual([
      ["critical", null, "not_recorded"],
      [null, "warning", null],
    ]);
  });

  it("counts the units that have no row", () => {
    expect(hiddenUnits(matrix)).toBe(3);
    const row = { resource: "unit", title: "web", limits: "1 CPU", cells: [] };
    expect(hiddenUnits({ n_units: 3, rows: [...matrix.rows, row] })).toBe(2);
  });

  it("counts what needs attention", () => {
    expect(countStates(matrix)).toEqual({ nCritical: 1, nWarning: 1, nUnanswered: 1 });
  });

  it("names the metric of a cell", () => {
    expect(matrix.rows.flatMap(({ cells }) => cells.map(metricOf))).toEqual([
      null,
      { stat: "iostat_linux", fields: ["util_pct"], choice: { kind: "only", names: ["vda"] } },
      { stat: "iostat_linux", fields: ["aqu_sz"], choice: null },
    ]);
  });

  it("says the limits that there are", () => {
    expect(limitsOf({ warning_from: "80 %", warning_above: "", critical_from: "95 %" })).toBe(
      "warning from 80 %, critical from 95 %",
    );
    expect(limitsOf({ warning_from: "", warning_above: "0 /s", critical_from: "" })).toBe("warning above 0 /s");
    expect(limitsOf({ warning_from: "", warning_above: "", critical_from: "" })).toBe("");
  });

  it("counts and finds the hosts of a fleet", () => {
    const hosts = [
      { host: "Web1", state: "critical" as const, cells: [] },
      { host: "db1", state: "fine" as const, cells: [] },
      { host: "web2", state: "critical" as const, cells: [] },
    ];
    expect([countHosts(hosts, "critical"), countHosts(hosts, "warning")]).toEqual([2, 0]);
    expect(searchHosts(hosts, " web ").map(({ host }) => host)).toEqual(["Web1", "web2"]);
  });
});
