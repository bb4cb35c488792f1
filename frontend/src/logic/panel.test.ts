import { describe, expect, it } from "vitest";
import type { FieldInfo, StatInfo } from "./api";
import { choiceKey, fieldOptions, fieldsAsked, formatChoice, type InstanceChoice, parseChoice, planSections } from "./panel";

const field = (key: string, unit: string, group = ""): FieldInfo => ({
  key,
  column: key,
  group,
  unit,
  kind: "gauge",
  semantics: "instant",
  worse: "neither",
  decimals: 0,
  help: "",
  source: "",
  is_documented: key !== "new",
  meanings: [],
});

const stat = (name: string, panels: StatInfo["panels"]): StatInfo => ({
  name,
  title: name,
  spec: name,
  tool: name,
  os: "linux",
  commands: [],
  instance_title: "CPU",
  shape: "table",
  fields: [field("a", "%"), field("b", "ms"), field("c", "%"), field("new", "")],
  panels,
});

const panel = (key: string, section: StatInfo["panels"][number]["section"], fields: string[], instances = "all") => ({
  key,
  title: key,
  section,
  fields,
  instances,
  is_stacked: false,
});

describe("panels of a host", () => {
  const stats = [
    stat("one", [panel("mixed", "disk", ["a", "b", "c"]), panel("load", "cpu", ["a"], "top:5")]),
    stat("other", [panel("never", "cpu", ["a"])]),
  ];

  it("come from the catalogue, in sections, only for stats that the host sends", () => {
    const sections = planSections(stats, ["one"], [], new Map());
    expect(sections.map(({ key, panels }) => [key, panels.map(({ id }) => id)])).toEqual([
      ["cpu", ["one.load"]],
      ["disk", ["one.mixed", "one.mixed.2"]],
    ]);
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
    const grouped = { ...stat("g", []), fields: [field("a", "%", "cpu"), field("new", "", "cpu"), field("b", "ms")] };
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
    const fields = [field("a", "%"), field("b", "%")];
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
