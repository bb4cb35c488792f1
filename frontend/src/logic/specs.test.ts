import { describe, expect, it } from "vitest";
import type { SpecPreviewRow, SpecInfo, SpecPreview } from "./api";
import { describePreview, filterSpecs, nameProblem, previewAdvice, previewTables, sortSpecs, systemName } from "./specs";

const spec = (name: string, change: Partial<SpecInfo> = {}): SpecInfo => ({
  name,
  title: `Title of ${name}`,
  tool: name.split("_")[0] ?? "",
  os: "linux",
  version: 1,
  is_builtin: true,
  disabled_reason: "",
  stats: [name],
  n_streams: 0,
  n_streams_outdated: 0,
  ...change,
});

const row = (change: Partial<SpecPreviewRow>): SpecPreviewRow => ({
  stat: "a",
  time: null,
  instance: "",
  values: { x: 1 },
  ...change,
});

const preview = (change: Partial<SpecPreview>): SpecPreview => ({
  rows: [row({})],
  rejected: [],
  n_lines: {},
  n_rows: 1,
  n_rejected: 0,
  ...change,
});

describe("the list of specs", () => {
  const all = [spec("vmstat_linux"), spec("iostat_solaris", { os: "sunos", stats: ["iostat_solaris", "iostat_solaris_tty"] })];

  it("is filtered by every word in names, titles, systems and stats", () => {
    expect(filterSpecs(all, "solaris tty").map(({ name }) => name)).toEqual(["iostat_solaris"]);
    expect(filterSpecs(all, "Linux").map(({ name }) => name)).toEqual(["vmstat_linux"]);
    expect(filterSpecs(all, "built-in")).toHaveLength(2);
    expect(filterSpecs(all, "own")).toHaveLength(0);
    expect(filterSpecs(all, " ")).toHaveLength(2);
  });

  it("starts with the user's own specs, then outdated ones", () => {
    const sorted = sortSpecs([spec("b"), spec("z", { n_streams_outdated: 1 }), spec("a"), spec("own", { is_builtin: false })]);
    expect(sorted.map(({ name }) => name)).toEqual(["own", "z", "a", "b"]);
  });

  it("shows common names of systems", () => {
    expect(["linux", "sunos", "any", "aix", "unix", "os2"].map(systemName)).toEqual([
      "Linux",
      "Solaris",
      "any system",
      "AIX",
      "other Unix",
      "os2",
    ]);
  });

  it("says why a name cannot be used for a new spec", () => {
    expect(nameProblem("app_time", all)).toBeNull();
    expect(nameProblem("", all)).toBe("enter a name");
    for (const name of ["App", "1st", "a-b", "a".repeat(41), "_x"]) {
      expect(nameProblem(name, all)).toContain("lower-case letters");
    }
    expect(nameProblem("vmstat_linux", all)).toContain("built in");
    expect(nameProblem("iostat_solaris_tty", all)).toContain("built in");
    expect(nameProblem("mine", [spec("mine", { is_builtin: false })])).toContain("exists");
  });
});

describe("a preview", () => {
  it("has a table for each stat, with all columns of its rows", () => {
    const tables = previewTables([
      row({ values: { x: 1, y: null } }),
      row({ stat: "b", instance: "sda", time: "2026-11-21T10:00:00Z" }),
      row({ values: { z: 1.5 } }),
    ]);
    expect(
      tables.map(({ stat, columns, hasInstances, hasTimes, rows }) => [stat, columns, hasInstances, hasTimes, rows.length]),
    ).toEqual([
      ["a", ["x", "y", "z"], false, false, 2],
      ["b", ["x"], true, true, 1],
    ]);
    expect(previewTables([])).toEqual([]);
  });

  it("says how the lines were parsed", () => {
    expect(describePreview(preview({ n_lines: { sample: 1, header: 2, ignored: 1, rejected: 3 }, n_rejected: 3 }))).toBe(
      "1 row; 3 rejected lines; headers: 2 lines; ignored: 1 line",
    );
  });

  it("says what to do next", () => {
    expect(previewAdvice(preview({ rows: [], n_rows: 0 }))).toContain("No rows found");
    expect(previewAdvice(preview({ n_rejected: 1 }))).toContain("kept and counted");
    expect(previewAdvice(preview({}))).toContain("no timestamps");
    expect(previewAdvice(preview({ rows: [row({ time: "2026-11-21T10:00:00Z" })] }))).toBeNull();
  });
});
