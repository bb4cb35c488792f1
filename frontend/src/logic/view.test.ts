import { describe, expect, it } from "vitest";
import type { HostMetric, StatInfo, ViewInfo, ViewPanel } from "./api";
import { type InstanceChoice, planSections } from "./panel";
import { madeField, madePanel, madeStat } from "./stat_fixture";
import {
  BOOKMARKS,
  bookmarksOf,
  chooseViews,
  describePanel,
  formatViewFile,
  isSamePanel,
  metricsOfView,
  moveItem,
  parseViewFile,
  planViews,
  resizedPanels,
  toViewPanel,
} from "./view";

const NO_LOOKS = new Map<string, { readonly height: number | null }>();

const stat = (name: string): StatInfo =>
  madeStat(name, {
    title: `${name} title`,
    fields: [madeField("util", "%"), madeField("await", "ms"), madeField("queue", "")],
    panels: [
      madePanel("util", ["util"], { title: "Device busy" }),
      madePanel("mixed", ["util", "await"], { title: "Mixed", instances: "top:5" }),
    ],
  });

const source = (name: string, panel: string | null, fields: string[] = [], instances = "") => ({
  stat: name,
  panel,
  fields,
  instances,
});

const view = (panels: ViewPanel[]): ViewInfo => ({
  key: "disks",
  name: "Disks",
  description: "how busy",
  panels,
  is_shared: true,
  is_starred: false,
  is_ready_made: false,
  may_change: true,
  created_by: "anna",
  updated_at: null,
});

const STATS = [stat("linux"), stat("solaris")];
const plan = (panels: ViewPanel[], host: string[], choices: ReadonlyMap<string, InstanceChoice> = new Map()) => {
  const [section] = planViews(STATS, host, [view(panels)], choices);
  if (section === undefined) {
    throw new Error("no section");
  }
  return section;
};

describe("a view on a host", () => {
  const busy: ViewPanel = { title: "", width: "full", sources: [source("solaris", "util"), source("linux", "util")] };

  it("draws the first source that the host recorded", () => {
    expect(plan([busy], ["linux"]).panels.map(({ stat: { name }, title, isWide }) => [name, title, isWide])).toEqual([
      ["linux", "Device busy", true],
    ]);
    expect(plan([busy], ["linux", "solaris"]).panels[0]?.stat.name).toBe("solaris");
  });

  it("gives the fields of the first source that any host recorded as metrics of several hosts", () => {
    const panels: ViewPanel[] = [
      { title: "", width: "full", sources: [source("solaris", "util"), source("linux", "mixed")] },
      { title: "", width: "half", sources: [source("linux", null, ["queue", "util"])] },
      { title: "", width: "half", sources: [source("gone", "util")] },
    ];
    const known = [{ fields: ["linux.util"] }] as unknown as HostMetric[];
    expect(metricsOfView(STATS, known, view(panels))).toEqual(["linux.util", "linux.await", "linux.queue"]);
  });

  it("names what the host did not record", () => {
    const section = plan([busy, { title: "Errors", width: "half", sources: [source("iostat_e", "errors")] }], []);
    expect(section.panels).toEqual([]);
    expect(section.missing).toEqual(["Device busy (solaris)", "Errors (iostat_e)"]);
  });

  it("shows fields, one panel for each unit", () => {
    const panel: ViewPanel = { title: "Mine", width: "half", sources: [source("linux", null, ["util", "queue"], "only:sda")] };
    expect(plan([panel], ["linux"]).panels.map(({ title, unit, choice }) => [title, unit, choice])).toEqual([
      ["Mine, %", "%", { kind: "only", names: ["sda"] }],
      ["Mine, number", "", { kind: "only", names: ["sda"] }],
    ]);
  });

  it("treats a panel or fields that are gone as not recorded", () => {
    const gone: ViewPanel[] = [
      { title: "", width: "half", sources: [source("linux", "old")] },
      { title: "", width: "half", sources: [source("linux", null, ["older"])] },
    ];
    expect(plan(gone, ["linux"])).toMatchObject({ panels: [], missing: ["linux", "linux title: older (linux)"] });
  });

  it("takes the link's choice of instances, and every panel has an id of its own", () => {
    const { panels } = plan([busy, busy], ["linux"], new Map([["linux.util", { kind: "top", n: 3 } as const]]));
    expect(panels.map(({ choice }) => choice)).toEqual([
      { kind: "top", n: 3 },
      { kind: "top", n: 3 },
    ]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(2);
  });
});

describe("the panels on a page as a view", () => {
  it("keep the sizes given by hand", () => {
    const busy: ViewPanel = { title: "", width: "half", height: 200, sources: [source("linux", "util")] };
    const { panels } = plan([busy, { ...busy, height: null }, busy], ["linux"]);
    expect(panels.map(({ height }) => height)).toEqual([200, null, 200]);
    expect(resizedPanels(view([busy]), panels, NO_LOOKS)).toBeNull();
    const looks = new Map(panels.slice(0, 2).map(({ id }, index) => [id, { height: 300 + index }]));
    expect(resizedPanels(view([busy, busy, busy]), panels, looks)?.map(({ height }) => height)).toEqual([300, 301, 200]);
    expect(resizedPanels({ ...view([busy]), key: "another" }, panels, looks)).toBeNull();
  });

  it("are the same panels again", () => {
    const custom = [{ stat: "linux", fields: ["queue"], choice: { kind: "all" } as const }];
    const plans = planSections(STATS, ["linux"], custom, new Map([["linux.util", { kind: "top", n: 3 } as const]])).flatMap(
      ({ panels }) => panels,
    );
    const again = plan(
      plans.map((each) => toViewPanel(each, NO_LOOKS)),
      ["linux"],
    ).panels;
    const facts = ({ title, unit, fields, choice }: (typeof plans)[number]) => [
      title,
      unit,
      fields.map(({ key }) => key),
      choice,
    ];
    expect(again.map(facts)).toEqual(plans.map(facts));
  });

  it("keep the catalogue's choice open where nothing else was chosen", () => {
    const [, busy] = planSections(
      STATS,
      ["linux"],
      [{ stat: "linux", fields: ["queue"], choice: { kind: "all" } }],
      new Map(),
    ).flatMap(({ panels }) => panels);
    expect(busy && toViewPanel(busy, new Map([[busy.id, { height: 320 }]]))).toEqual({
      title: "Device busy",
      width: "half",
      height: 320,
      sources: [{ stat: "linux", panel: "util", fields: [], instances: "" }],
    });
  });
});

describe("lists and files", () => {
  it("move an item, and nothing beyond the ends", () => {
    expect(moveItem(["a", "b", "c"], 0, 2)).toEqual(["b", "c", "a"]);
    expect(moveItem(["a", "b", "c"], 2, 0)).toEqual(["c", "a", "b"]);
    expect(moveItem(["a"], 0, 1)).toEqual(["a"]);
  });

  it("choose the views of a link in its order", () => {
    const other = { ...view([]), key: "use" };
    const { chosen, unknown } = chooseViews([view([]), other], ["use", "gone", "disks"]);
    expect([chosen.map(({ key }) => key), unknown]).toEqual([["use", "disks"], ["gone"]]);
  });

  it("read what they wrote", () => {
    const { name, description, panels } = view([{ title: "ü", width: "half", sources: [source("linux", "util")] }]);
    expect(parseViewFile(formatViewFile(view(panels)))).toEqual({ name, description, panels });
  });

  it.each([
    ["", "not JSON"],
    ["[]", "not a view"],
    ['{"format": "normstat-view", "version": 2}', "another version"],
    ['{"format": "normstat-view", "version": 1, "name": "a"}', "incomplete"],
  ])("say why %j is no view", (text, reason) => {
    expect(parseViewFile(text)).toContain(reason);
  });

  it("describe a panel of an unknown stat by its name", () => {
    expect(describePanel(STATS, { title: "", width: "half", sources: [source("gone", "x")] })).toBe("gone");
  });
});

describe("bookmarks", () => {
  const bookmarks = { key: "bookmarks", name: BOOKMARKS, created_by: "anna", may_change: true, is_shared: false } as ViewInfo;
  const panel: ViewPanel = { title: "Busy", width: "half", height: null, sources: [source("iostat", "util", [])] };

  it("are the view of that name that is one's own", () => {
    expect(bookmarksOf([{ ...bookmarks, created_by: "bob" }, { ...bookmarks, is_shared: true }, bookmarks], "anna")).toBe(
      bookmarks,
    );
    expect(bookmarksOf([bookmarks], "bob")).toBeNull();
  });

  it("are found whatever their size", () => {
    expect(isSamePanel(panel, { ...panel, width: "full", height: 300 })).toBe(true);
    expect(isSamePanel(panel, { ...panel, title: "Else" })).toBe(false);
    expect(isSamePanel(panel, { ...panel, sources: [source("iostat", "mixed", [])] })).toBe(false);
  });
});
