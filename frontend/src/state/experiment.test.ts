import { describe, expect, it } from "vitest";
import {
  decodeExperimentList,
  decodeExperimentView,
  DEFAULT_EXPERIMENT_VIEW,
  encodeExperimentList,
  encodeExperimentView,
  type ExperimentView,
  toggleRun,
} from "./experiment";

describe("the address of an experiment", () => {
  it("is short for the usual view and comes back", () => {
    expect(encodeExperimentView(DEFAULT_EXPERIMENT_VIEW)).toEqual({});
    const view: ExperimentView = {
      clock: "utc",
      result: "tps",
      factor: "threads",
      variant: "version",
      reference: "2",
      base: "1.2",
      work: "grows",
      cpu: "cpus_used",
      show: "efficiency",
      models: ["amdahl", "usl"],
      log: "xy",
      runs: [7, 3],
    };
    expect(decodeExperimentView(encodeExperimentView(view))).toEqual({ view, ignored: [] });
    const oneLine = { ...view, variant: "" };
    expect(decodeExperimentView(encodeExperimentView(oneLine))).toEqual({ view: oneLine, ignored: [] });
    const list = { clock: "utc", search: "io" } as const;
    expect(decodeExperimentList(encodeExperimentList(list)).view).toEqual(list);
  });

  it("says what it ignored", () => {
    const { view, ignored } = decodeExperimentView({ show: "volume", log: "z", run: ["1", "x", "2", "3"], model: "magic" });
    expect(view).toEqual({ ...DEFAULT_EXPERIMENT_VIEW, runs: [1, 2] });
    expect(ignored).toHaveLength(4);
  });

  it("keeps the last two runs that were chosen", () => {
    expect(toggleRun([1, 2], 3)).toEqual([2, 3]);
    expect(toggleRun([1, 2], 1)).toEqual([2]);
  });
});
