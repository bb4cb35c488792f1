import { expect, it } from "vitest";
import type { UseCell } from "./api";
import { nameSubsystem, worstOverall } from "./host_status";
import { madeCell } from "./use_fixture";

const cpu = (...cells: UseCell[]) => ({
  host: "web1",
  start: "2026-11-21T09:56:00Z",
  end: "2026-11-21T10:01:00Z",
  n_units: 1,
  rows: [
    { resource: "cpu", title: "CPUs", limits: "", cells },
    { resource: "unit", title: "web.service", limits: "0.5 CPUs", cells: [madeCell("saturation", "warning")] },
  ],
});

it("takes the worst of the rules and of the cells of the matrix", () => {
  const critical = cpu(madeCell("utilisation", "warning"), madeCell("saturation", "critical"));
  expect(worstOverall({ colour: "green" }, critical)).toEqual({ colour: "red", because: "CPUs: saturation is critical" });
  expect(worstOverall({ colour: "amber" }, critical)).toEqual({ colour: "red", because: "CPUs: saturation is critical" });
  // The rules say more of what they found: as bad as they are, a cell adds nothing.
  expect(worstOverall({ colour: "red" }, critical)).toEqual({ colour: "red", because: "" });
  expect(worstOverall({ colour: null }, cpu())).toEqual({ colour: "amber", because: "web.service: saturation needs attention" });
  expect(worstOverall({ colour: "white" }, undefined)).toEqual({ colour: "white", because: "" });
  expect(worstOverall({ colour: null }, undefined)).toEqual({ colour: null, because: "" });
});

it("names subsystems, and leaves those of own rules as they are", () => {
  expect([nameSubsystem("ram"), nameSubsystem("shop")]).toEqual(["Memory demand", "shop"]);
});
