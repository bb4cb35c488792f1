import { describe, expect, it } from "vitest";
import type { StatInfo } from "./api";
import {
  choiceKey,
  type CustomPanel,
  fieldOptions,
  fieldsAsked,
  formatChoice,
  type InstanceChoice,
  lackingPanels,
  parseChoice,
  planSections,
} from "./panel";
import { madeField, madePanel, madeStat } from "./stat_fixture";

const FIELDS = [madeField("a", "%"), madeField("b", "ms"), madeField("c", "%"), madeField("new", "", { is_documented: false })];

describe("panels of a host", () => {
  const stats = [
    madeStat("one", {
      fields: FIELDS,
      panels: [madePanel("mixed", ["a", "b", "c"]), madePanel("load", ["a"], { section: "cpu", instances: "top:5" })],
    }),
    madeStat("other", { fields: FIELDS, panels: [madePanel("never", ["a"])] }),
  ];

  it("come from the catalogue, in sections, only for stats that the host sends", () => {
    const sections = planSections(stats, ["one"], [], new Map());
    expect(sections.map(({ key, panels }) => [key, panels.map(({ id }) => id)])).toEqual([
      ["cpu", ["one.load"]],
      ["disk", ["one.mixed", "one.mixed.2"]],
    ]);
  });

  it("have one for all CPUs where a stat tells how long each is idle", () => {
    const byCpu = madeStat("cpus", { instance_title: "CPU", fields: [madeField("idle", "%", { meanings: ["cpu.idle"] })] });
    const plans = (of: StatInfo, choices = new Map<string, InstanceChoice>()) =>
      planSections([of], [of.name], [], choices).flatMap(({ panels }) => panels);
    expect(plans(byCpu).map(({ id, title, choice }) => [id, title, choice])).toEqual([
      ["cpus.balance", "CPUs", { kind: "balance" }],
    ]);
    expect(plans(byCpu, new Map([["cpus.balance", { kind: "all" }]]))[0]?.choice).toEqual({ kind: "all" });
    expect(plans({ ...byCpu, instance_title: "" })).toEqual([]);
    expect(parseChoice(formatChoice({ kind: "balance" }))).toEqual({ kind: "balance" });
  });

  it("show one unit each", () => {
    const [, disk] = planSections(stats, ["one"], [], new Map());
    expect(disk?.panels.map(({ unit, fields }) => [unit, fields.map(({ key }) => key)])).toEqual([
      ["%", ["a", "c"]],
      ["ms", ["b"]],
    ]);
    expect(disk?.panels.map(choiceKey)).toEqual(["one.mixed", "one.mixed"]);
  });

  it("take their instances from the link", () => {
    const choice: InstanceChoice = { kind: "only", names: ["3"] };
    const [cpu] = planSections(stats, ["one"], [], new Map([["one.load", choice]]));
    expect(cpu?.panels[0]?.choice).toEqual(choice);
  });

  it("come first if the user added them; unknown ones are omitted", () => {
    const custom = [
      { stat: "gone", fields: ["a"], choice: { kind: "all" } },
      { stat: "one", fields: ["new", "unknown"], choice: { kind: "all" } },
    ] as const;
    const [added] = planSections(stats, [], custom, new Map());
    expect(added?.key).toBe("added");
    expect(added?.panels.map(({ id, customIndex }) => [id, customIndex])).toEqual([["custom-1", 1]]);
  });

  it("offer fields under the tool's own headings", () => {
    const grouped = madeStat("g", {
      fields: [
        madeField("a", "%", { group: "cpu" }),
        madeField("new", "", { group: "cpu", is_documented: false }),
        madeField("b", "ms"),
      ],
    });
    expect(fieldOptions(grouped)).toEqual([
      {
        group: "cpu",
        items: [
          { value: "a", label: "a (%)" },
          { value: "new", label: "new, undocumented" },
        ],
      },
      { group: "columns", items: [{ value: "b", label: "b (ms)" }] },
    ]);
  });
});

describe("choices of instances", () => {
  it("request one field for a heatmap", () => {
    const fields = [madeField("a", "%"), madeField("b", "%")];
    const asked = (choice: InstanceChoice) => fieldsAsked({ choice, fields }).map(({ key }) => key);
    expect(asked({ kind: "all" })).toEqual(["a", "b"]);
    expect(asked({ kind: "heatmap", field: "b" })).toEqual(["b"]);
    expect(asked({ kind: "heatmap", field: "gone" })).toEqual(["a"]);
    expect(parseChoice("heatmap:")).toBeNull();
  });

  it.each<InstanceChoice>([
    { kind: "one" },
    { kind: "all" },
    { kind: "top", n: 10 },
    { kind: "only", names: ["a,b", "50%", "%2C", "x"] },
    { kind: "heatmap", field: "cpu_usr" },
  ])("are written and read the same: %j", (choice) => {
    expect(parseChoice(formatChoice(choice))).toEqual(choice);
  });

  it.each(["top:0", "top:1000", "only:", "some"])("reject %s", (text) => {
    expect(parseChoice(text)).toBeNull();
  });
});

describe("the panels that a host lacks", () => {
  it("are those of stats and fields that it never recorded", () => {
    const panel = (stat: string, ...fields: string[]): CustomPanel => ({ stat, fields, choice: { kind: "one" } });
    const stats = [madeStat("vmstat_linux", { fields: [madeField("cpu_us", "%")] })];
    const all = [panel("iostat_solaris", "asvc_t_ms"), panel("vmstat_linux", "gone", "cpu_us"), panel("vmstat_linux", "gone")];
    expect(lackingPanels(all, stats)).toEqual([
      { customIndex: 0, title: "iostat_solaris: asvc_t_ms" },
      { customIndex: 2, title: "vmstat_linux: gone" },
    ]);
  });
});
