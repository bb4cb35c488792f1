import { describe, expect, it } from "vitest";
import { formatRule, inputChoices, NEW_CONDITION, NEW_RULE, parseRule, type RuleForm, ruleProblems, ruleUnit } from "./rule_form";
import { madeField, madeStat } from "./stat_fixture";

const FORM: RuleForm = {
  ...NEW_RULE,
  ...{
    name: "busy",
    title: 'Busy "web" CPUs',
    about: "What it means.",
    input: "meaning:cpu.idle",
    unit: "%",
    of: "cpu",
    endsAfter: "5 min",
  },
  conditions: [
    { ...NEW_CONDITION, severity: "red", comparison: "<", level: "1", judged: "mean", duration: "1 min", action: "Move work." },
    { ...NEW_CONDITION, comparison: "<=", level: "5.5", duration: "30 s", action: "Look.", explanation: "No time is left." },
    { ...NEW_CONDITION, comparison: "<=", level: "10", duration: "", action: "Wait." },
  ],
};

describe("the form of a rule", () => {
  it("is written as text and read again", () => {
    const toml = formatRule(FORM);
    expect(toml).toContain("when = \"mean(value, '1 min') < limit.critical\"");
    expect(toml).toContain('warning2 = { value = 10, unit = "%", source = "a first guess" }');
    expect(parseRule(toml)).toEqual(FORM);
    expect(parseRule(formatRule(NEW_RULE))).toEqual(NEW_RULE);
    const field = { ...FORM, input: "field:rate(netstat_solaris_if.ierrs)", unit: "1/s" };
    expect(parseRule(formatRule(field))).toEqual(field);
  });

  it("shows a built-in rule of one input", () => {
    const steal = `format = 1
name = "steal"
title = "CPU time taken by the hypervisor"
subsystem = "cpu"
version = 1
about = "About."
source = "proc(5)"

[inputs]
steal = { meaning = "cpu.steal", unit = "%" }

[limits]
warning = { value = 5, unit = "%", source = "chosen: one second in twenty" }

[[states]]
state = "amber"
when = "mean(steal, '1 min') >= limit.warning"
action = "Keep it in mind."

[[states]]
state = "green"
action = "Nothing to do."
explanation = "Fine."
`;
    expect(parseRule(steal)).toMatchObject({
      ...{ name: "steal", input: "meaning:cpu.steal", fineExplanation: "Fine." },
      conditions: [{ severity: "amber", comparison: ">=", level: "5", judged: "mean", duration: "1 min" }],
    });
  });

  it("does not show what it would lose", () => {
    const toml = formatRule(FORM);
    for (const [from, to] of [
      ["[inputs]\n", '[inputs]\nother = { meaning = "cpu.sys", unit = "%" }\n'],
      ["limit.critical", "limit.critical and value > 0"],
      ["limit.critical", "0.5"],
      ["[limits]", "# why\n[limits]"],
      ['ends_after = "5 min"', 'except = ["lo"]'],
      ['state = "green"', 'state = "blue"'],
      ['unit = "%" }', 'unit = "%", each = true }'],
    ] as const) {
      expect(parseRule(toml.replace(from, to)), to).toBeNull();
    }
  });

  it("says what is missing", () => {
    expect(ruleProblems(FORM)).toEqual({});
    expect(Object.keys(ruleProblems(NEW_RULE)).sort()).toEqual([
      ...["about", "conditions.0.action", "conditions.0.level", "input", "title"],
    ]);
    const [first] = FORM.conditions;
    const wrong = { ...FORM, name: "No blanks", conditions: [{ ...first!, level: "many", duration: "" }] };
    expect(Object.keys(ruleProblems(wrong)).sort()).toEqual(["conditions.0.duration", "conditions.0.level", "name"]);
  });

  it("offers measures of any tool before the fields of each", () => {
    const idle = madeField("idle", "%", { meanings: ["cpu.idle"], help: "CPU time idle." });
    const errors = madeField("ierrs", "packets", { semantics: "counter", meanings: ["net.errors"] });
    const [measures, fields] = inputChoices([madeStat("mpstat", { fields: [idle, errors] })]);
    expect(measures?.items).toEqual([{ value: "meaning:cpu.idle", label: "cpu.idle: CPU time idle.", unit: "%" }]);
    expect(fields?.items.map(({ value, unit }) => [value, unit])).toEqual([
      ["field:mpstat.idle", "%"],
      ["field:rate(mpstat.ierrs)", "1/s"],
    ]);
    expect(ruleUnit({ unit: "KiB/s", semantics: "rate" })).toBe("bytes/s");
    expect(ruleUnit({ unit: "packets", semantics: "counter" })).toBe("1/s");
    expect(ruleUnit({ unit: "us", semantics: "instant" })).toBe("ms");
    expect(ruleUnit({ unit: "%", semantics: "instant" })).toBe("%");
    expect(ruleUnit({ unit: "threads", semantics: "instant" })).toBe("1");
  });
});
