import { describe, expect, it } from "vitest";
import { formatText, parseValue, readFields, renameField, setFieldValue } from "./toml";

const SPEC = `# of our shop
name = "app_time_any"
title = "Times" # all of them
commands = ["app_time 10"]

[layout]
ignore = '''
[[stats.fields]]
key = "not_a_field"
'''

[[layout.tables]]
stat = "app_time_any"
header = [
  "a",
  "b"
]

[[stats]]
name = "app_time_any"
title = "Times"

[[stats.fields]]
key = "a"
column = "A"   # as printed
unit = "ms"
help = ""

[[stats.fields]]
key = "b"
column = 'B\\C'
unit = ""
decimals = 2

[[stats.panels]]
key = "a"
fields = ["a", "b"]

[[stats]]
name = "other"

[[stats.fields]]
key = "a"
derived = ["a", "a_b"]
`;

describe("fields of a spec's text", () => {
  it("are found in order, without text that only looks like a field", () => {
    expect(readFields(SPEC).map(({ index, stat, values }) => [index, stat, values])).toEqual([
      [0, "app_time_any", { key: "a", column: "A", unit: "ms", help: "" }],
      [1, "app_time_any", { key: "b", column: "B\\C", unit: "", decimals: "2" }],
      [2, "other", { key: "a" }],
    ]);
    expect(readFields("")).toEqual([]);
    expect(readFields("no toml at all [[")).toEqual([]);
  });

  it("change in their own line; everything else stays as it was", () => {
    const next = setFieldValue(SPEC, 1, "unit", 'k"B\\s');
    expect(readFields(next)[1]?.values["unit"]).toBe('k"B\\s');
    const before = SPEC.split("\n");
    const after = next.split("\n");
    expect(after.length).toBe(before.length);
    expect(after.filter((line, number) => line !== before[number])).toEqual(['unit = "k\\"B\\\\s"']);
    expect(setFieldValue(SPEC, 9, "unit", "x")).toBe(SPEC);
  });

  it("get a missing line, before the blank line after them", () => {
    const next = setFieldValue(SPEC, 1, "help", "good bye");
    expect(next).toContain('decimals = 2\nhelp = "good bye"\n\n[[stats.panels]]');
    expect(readFields(setFieldValue(SPEC, 2, "unit", "%"))[2]?.values["unit"]).toBe("%");
  });

  it("are renamed in the panels of their stat, and nowhere else", () => {
    const next = renameField(SPEC, 0, "wait_ms");
    expect(readFields(next).map(({ values }) => values["key"])).toEqual(["wait_ms", "b", "a"]);
    expect(next).toContain('fields = ["wait_ms", "b"]');
    expect(next).toContain('derived = ["a", "a_b"]');
    expect(next).toContain('key = "a"\nfields');
    expect(renameField(next, 0, "a")).toBe(SPEC);
    expect(renameField(SPEC, 2, "x")).toContain('derived = ["x", "a_b"]');
    expect(renameField(SPEC, 7, "x")).toBe(SPEC);
  });
});

describe("values of TOML", () => {
  it("are read if they are on one line", () => {
    expect(parseValue('"a \\"b\\" \\u00e9" # c')).toBe('a "b" é');
    expect(parseValue("'C:\\x'")).toBe("C:\\x");
    expect(parseValue("12")).toBe("12");
    expect(parseValue("true")).toBe("true");
    for (const text of ['["a"]', "{ a = 1 }", '"""', "'''", '"open', '"\\q"', ""]) {
      expect(parseValue(text)).toBeNull();
    }
  });

  it("survive a round trip", () => {
    for (const text of ["", "plain", 'quo"te', "back\\slash", "tab\t", "µs", "\u007f", "line\nbreak"]) {
      expect(parseValue(formatText(text))).toBe(text);
    }
  });
});
