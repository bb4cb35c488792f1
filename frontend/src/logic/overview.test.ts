import { describe, expect, it } from "vitest";
import type { QuietStat, StatInfo, ViewInfo } from "./api";
import { alikePanels, describeFold, foldSection, layOut, MAX_OVERVIEW, overviewHeight, unusualIn } from "./overview";
import { planSections, type Section } from "./panel";
import type { ScoreRow } from "./scores";
import { madeField, madePanel, madeStat } from "./stat_fixture";

const FIELDS = [madeField("busy", "%"), madeField("wait", "ms"), madeField("idle", "%", { worse: "lower" })];
const stat = (name: string, section: "cpu" | "disk" | "memory", keys = ["busy", "wait"]): StatInfo =>
  madeStat(name, { fields: FIELDS, panels: keys.map((key) => madePanel(key, [key], { section })) });
const sectionsOf = (stats: StatInfo[]): readonly Section[] =>
  planSections(
    stats,
    stats.map(({ name }) => name),
    [],
    new Map(),
  );
const view = (...panels: readonly (readonly string[])[]): ViewInfo => ({
  key: "overview",
  name: "Overview",
  description: "",
  panels: panels.map((sources) => ({
    title: "",
    width: "half",
    height: null,
    sources: sources.map((source) => {
      const [name = "", panel = ""] = source.split(".");
      return { stat: name, panel, fields: [], instances: "" };
    }),
  })),
  is_shared: true,
  is_starred: false,
  is_ready_made: true,
  may_change: false,
  created_by: "",
  updated_at: null,
});
const ids = (panels: readonly { readonly id: string }[]) => panels.map(({ id }) => id);

describe("the overview", () => {
  it("has the first source of each panel that the host recorded, then others of each section in turn", () => {
    const sections = sectionsOf([stat("vmstat", "cpu"), stat("iostat", "disk"), stat("free", "memory")]);
    const { overview } = layOut(sections, view(["sar.busy", "iostat.busy"], ["none.busy"], ["vmstat.wait"]));
    expect(ids(overview)).toEqual(["iostat.busy", "vmstat.wait", "vmstat.busy", "free.busy", "free.wait", "iostat.wait"]);
  });

  it("is not filled with what a host is, which is reported once an hour", () => {
    const { overview } = layOut(
      sectionsOf([stat("vmstat", "cpu", ["busy"]), stat("host_facts", "memory")]),
      view(["vmstat.busy"]),
    );
    expect(ids(overview)).toEqual(["vmstat.busy"]);
    const alone = layOut(sectionsOf([stat("host_facts", "memory")]), view(["vmstat.busy"]));
    expect(ids(alone.overview)).toEqual(["host_facts.busy", "host_facts.wait"]);
  });

  it("has nine panels at most; the others are in their sections", () => {
    const stats = ["a", "b", "c", "d", "e", "f"].map((name) => stat(name, "cpu"));
    const { overview, sections } = layOut(sectionsOf(stats), view(["f.wait"]));
    expect(overview).toHaveLength(MAX_OVERVIEW);
    expect(overview[0]?.id).toBe("f.wait");
    expect(sections.map(({ key, panels }) => [key, ids(panels)])).toEqual([["cpu", ["e.busy", "e.wait", "f.busy"]]]);
  });

  it("leaves the panels that the link adds where they are", () => {
    const added = planSections(
      [stat("vmstat", "cpu")],
      [],
      [{ stat: "vmstat", fields: ["busy"], choice: { kind: "one" } }],
      new Map(),
    );
    const found = layOut(added, view(["vmstat.busy"]));
    expect(ids(found.added.flatMap(({ panels }) => panels))).toEqual(["custom-0"]);
    expect(found.overview).toEqual([]);
  });

  it("fits into a window, within limits", () => {
    expect([600, 800, 1080, 2000].map((window) => overviewHeight(window, 9))).toEqual([120, 125, 186, 186]);
    expect([0, 3, 6].map((n) => overviewHeight(720, n))).toEqual([186, 186, 186]);
  });
});

describe("folded panels", () => {
  const [section] = sectionsOf([stat("iostat", "disk"), stat("sar", "disk")]);
  const fold = (quiet: QuietStat[], alike: string[] = [], kept: string[] = []) =>
    foldSection(section ?? { key: "", title: "", panels: [] }, quiet, new Set(alike), new Set(kept));

  it("are those without samples, those that are zero, and those that another tool shows", () => {
    const quiet = [
      { stat: "iostat", has_samples: true, zero_fields: ["wait"] },
      { stat: "sar", has_samples: false, zero_fields: [] },
    ];
    const { panels, folded } = fold(quiet, ["iostat.busy"]);
    expect(panels).toEqual([]);
    expect(folded.map((own) => [describeFold(own), ids(own.panels)])).toEqual([
      ["1 panel is zero", ["iostat.wait"]],
      ["2 panels without samples in this window", ["sar.busy", "sar.wait"]],
      ["1 panel with the same from another tool", ["iostat.busy"]],
    ]);
  });

  it("are not those that the link is about", () => {
    expect(ids(fold([{ stat: "sar", has_samples: false, zero_fields: [] }], [], ["sar.wait"]).panels)).toEqual([
      "iostat.busy",
      "iostat.wait",
      "sar.wait",
    ]);
  });

  it("are not those in which zero is bad", () => {
    const [cpu] = sectionsOf([stat("mpstat", "cpu", ["idle"])]);
    const quiet = [{ stat: "mpstat", has_samples: true, zero_fields: ["idle"] }];
    expect(cpu && foldSection(cpu, quiet, new Set(), new Set()).panels).toHaveLength(1);
  });
});

describe("panels that show the same", () => {
  it("are of another tool, in a list of a ready-made view after one that the host has, with its unit", () => {
    const sections = sectionsOf([stat("iostat", "disk"), stat("sar", "disk")]);
    const views = [view(["none.busy", "iostat.busy", "sar.busy", "sar.wait"])];
    expect([...alikePanels(sections, views)]).toEqual(["sar.busy"]);
    expect([
      ...alikePanels(
        sections,
        views.map((own) => ({ ...own, is_ready_made: false })),
      ),
    ]).toEqual([]);
    const ofOneTool = sectionsOf([stat("iostat", "disk"), { ...stat("sar", "disk"), tool: "iostat" }]);
    expect([...alikePanels(ofOneTool, views)]).toEqual([]);
  });
});

describe("how unusual a section is", () => {
  it("is that of its subsystem with the highest score", () => {
    const row = (subsystem: string, score: number): ScoreRow => ({ subsystem, score, runs: [] });
    const rows = [row("filesystem", 0.8), row("disk", 0.5), row("cpu", 0.3)];
    expect(unusualIn("disk", rows)?.subsystem).toBe("filesystem");
    expect(unusualIn("cpu", rows)?.score).toBe(0.3);
    expect(unusualIn("network", rows)).toBeNull();
    expect(unusualIn("process", rows)).toBeNull();
  });
});
