/**
 * A rule of one input, as a form: what it looks at, and from which level on it is how bad. The text stays what is saved; a text
 * with more than the form can show is no form.
 */

import type { FieldInfo, StatInfo } from "./api";
import { formatText, parseValue } from "./toml";

export const COMPARISONS = [">", ">=", "<", "<="] as const;
export type Comparison = (typeof COMPARISONS)[number];

export const SEVERITIES = ["black", "red", "amber"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** `held`: in every report of the duration; `mean`: on average over it. */
export type Judged = "held" | "mean";

/** A condition, worst first. Numbers and durations are as typed: `20`, `1 min`. */
export interface RuleCondition {
  readonly severity: Severity;
  readonly comparison: Comparison;
  readonly level: string;
  readonly levelSource: string;
  readonly judged: Judged;
  readonly duration: string;
  readonly action: string;
  readonly explanation: string;
}

/** `input` is `meaning:cpu.steal` or `field:vmstat_linux.cpu_us`; `of`: what there is a state for, "" for the host. */
export interface RuleForm {
  readonly name: string;
  readonly title: string;
  readonly subsystem: string;
  readonly version: number;
  readonly of: string;
  readonly about: string;
  readonly source: string;
  readonly endsAfter: string;
  readonly input: string;
  readonly unit: string;
  readonly conditions: readonly RuleCondition[];
  readonly fineAction: string;
  readonly fineExplanation: string;
}

/** What a rule may have a state for, as the page names it. */
export const RULE_PARTS: readonly { readonly value: string; readonly label: string }[] = [
  { value: "", label: "the host" },
  ...["cpu", "disk", "interface", "mount", "process", "thread", "command", "container", "gpu"].map((value) => ({
    value,
    label: `each ${value === "cpu" ? "CPU" : value === "gpu" ? "GPU" : value === "mount" ? "file system" : value}`,
  })),
];

export const NEW_CONDITION: RuleCondition = {
  ...{ severity: "amber", comparison: ">=", level: "", levelSource: "a first guess", judged: "held", duration: "1 min" },
  ...{ action: "", explanation: "" },
};

export const NEW_RULE: RuleForm = {
  ...{ name: "my-rule", title: "", subsystem: "cpu", version: 1, of: "", about: "", source: "local experience" },
  ...{ endsAfter: "", input: "", unit: "" },
  conditions: [NEW_CONDITION],
  fineAction: "Nothing to do.",
  fineExplanation: "",
};

const INPUT = "value";
const DURATION = /^\d+(?:\.\d+)? ?(?:s|min|h)$/;
const NAME = /^[a-z][a-z0-9_-]{0,59}$/;
const LEVEL = /^-?\d+(?:\.\d+)?$/;

type Texts = Readonly<Record<string, string>>;

/** Return what is wrong with a form, by the path of its field: `conditions.0.level`. Empty: it can be saved. */
export function ruleProblems(form: RuleForm): Texts {
  const problems: Record<string, string> = {};
  if (!NAME.test(form.name)) {
    problems["name"] = "small letters, digits, - and _; a letter first";
  }
  for (const name of ["title", "subsystem", "about", "source", "input"] as const) {
    if (form[name].trim() === "") {
      problems[name] = "needed";
    }
  }
  if (form.endsAfter !== "" && !DURATION.test(form.endsAfter)) {
    problems["endsAfter"] = "a duration such as 5 min";
  }
  for (const [index, { level, duration, judged, action }] of form.conditions.entries()) {
    const at = (name: keyof RuleCondition): string => `conditions.${String(index)}.${name}`;
    if (!LEVEL.test(level.trim())) {
      problems[at("level")] = "a number";
    }
    if (duration === "" ? judged === "mean" : !DURATION.test(duration)) {
      problems[at("duration")] = "a duration such as 30 s or 5 min";
    }
    if (action.trim() === "") {
      problems[at("action")] = "say what to do";
    }
  }
  return problems;
}

function lines(entries: readonly (readonly [string, string | number])[]): readonly string[] {
  return entries.map(([key, value]) => `${key} = ${typeof value === "number" ? String(value) : formatText(value)}`);
}

function inputTable({ input, unit }: RuleForm): string {
  const [kind = "", name = ""] = partsOf(input);
  const what = kind === "field" ? `fields = [${formatText(name)}]` : `meaning = ${formatText(name)}`;
  return `${INPUT} = { ${what}, unit = ${formatText(unit)} }`;
}

function partsOf(input: string): readonly string[] {
  const at = input.indexOf(":");
  return [input.slice(0, at), input.slice(at + 1)];
}

function conditionText({ comparison, judged, duration }: RuleCondition, limit: string): string {
  return `${judged === "mean" ? `mean(${INPUT}, '${duration}')` : INPUT} ${comparison} limit.${limit}`;
}

/** Return the names of the limits, one for each condition: `warning`, and `warning2` for a second one. */
function limitNames(conditions: readonly RuleCondition[]): readonly string[] {
  const words: Readonly<Record<Severity, string>> = { black: "stopped", red: "critical", amber: "warning" };
  return conditions.map(({ severity }, index) => {
    const n = conditions.slice(0, index).filter((each) => each.severity === severity).length;
    return `${words[severity]}${n === 0 ? "" : String(n + 1)}`;
  });
}

/** Return the text of a rule. */
export function formatRule(form: RuleForm): string {
  const sorted = [...form.conditions].sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
  const names = limitNames(sorted);
  const head = lines([
    ["format", 1],
    ["name", form.name],
    ["title", form.title],
    ["subsystem", form.subsystem],
    ["version", form.version],
    ...(form.of === "" ? [] : ([["of", form.of]] as const)),
    ["about", form.about],
    ["source", form.source],
    ...(form.endsAfter === "" ? [] : ([["ends_after", form.endsAfter]] as const)),
  ]);
  const limits = sorted.map(({ level, levelSource }, index) => {
    const value = LEVEL.test(level.trim()) ? level.trim() : '""';
    return `${names[index] ?? ""} = { value = ${value}, unit = ${formatText(form.unit)}, source = ${formatText(levelSource)} }`;
  });
  const states = sorted.map((condition, index) => [
    "[[states]]",
    ...lines([
      ["state", condition.severity],
      ["when", conditionText(condition, names[index] ?? "")],
      ...(condition.judged === "held" && condition.duration !== "" ? ([["for", condition.duration]] as const) : []),
      ["action", condition.action],
      ...(condition.explanation === "" ? [] : ([["explanation", condition.explanation]] as const)),
    ]),
  ]);
  const fine = [
    "[[states]]",
    ...lines([
      ["state", "green"],
      ["action", form.fineAction],
      ...(form.fineExplanation === "" ? [] : ([["explanation", form.fineExplanation]] as const)),
    ]),
  ];
  return [head, ["[inputs]", inputTable(form)], ["[limits]", ...limits], ...states, fine]
    .map((block) => `${block.join("\n")}\n`)
    .join("\n");
}

interface Table {
  readonly header: string;
  readonly values: ReadonlyMap<string, string>;
}

/** Return the tables of a text of one-line values. Missing: null for a text with anything else, such as comments. */
function tablesOf(toml: string): readonly Table[] | null {
  const tables: { header: string; values: Map<string, string> }[] = [{ header: "", values: new Map() }];
  for (const line of toml.split("\n").map((each) => each.trim())) {
    const [, header] = /^\[+([a-z]+)\]+$/.exec(line) ?? [];
    const [, key, value] = /^([a-z_]\w*)\s*=\s*(.+)$/.exec(line) ?? [];
    if (header !== undefined) {
      tables.push({ header, values: new Map() });
    } else if (key !== undefined && value !== undefined) {
      tables.at(-1)?.values.set(key, value);
    } else if (line !== "") {
      return null;
    }
  }
  return tables;
}

/** Return the strings and numbers of a table on one line. Missing: null for one with other values. */
function inlineTable(text: string): Texts | null {
  const [, body] = /^\{(.*)\}$/.exec(text.trim()) ?? [];
  const found: Record<string, string> = {};
  let rest = body?.trim() ?? null;
  while (rest !== null && rest !== "") {
    const [whole, key, value] =
      /^([a-z]+)\s*=\s*("(?:[^"\\]|\\.)*"|\["(?:[^"\\]|\\.)*"\]|-?[\d.]+)\s*(?:,\s*|$)/.exec(rest) ?? [];
    const parsed = value === undefined ? null : parseValue(value.replace(/^\[(.*)\]$/, "$1"));
    if (whole === undefined || key === undefined || parsed === null) {
      return null;
    }
    found[key] = parsed;
    rest = rest.slice(whole.length);
  }
  return rest === null ? null : found;
}

function hasOnly(values: Texts, keys: string): boolean {
  const known = keys.split(" ");
  return Object.keys(values).every((key) => known.includes(key));
}

function textsOf({ values }: Table): Texts | null {
  const parsed = [...values].map(([key, value]) => [key, parseValue(value)] as const);
  return parsed.every(([, value]) => value !== null) ? (Object.fromEntries(parsed) as Texts) : null;
}

function isOneOf<T extends string>(known: readonly T[], text: string | undefined): text is T {
  return known.some((each) => each === text);
}

/** Return the form of a rule's text. Missing: null for a rule that the form cannot show. */
export function parseRule(toml: string): RuleForm | null {
  const [top, inputs, limits, ...states] = tablesOf(toml) ?? [];
  const head = top === undefined ? null : textsOf(top);
  if (head === null || inputs?.header !== "inputs" || limits?.header !== "limits" || states.length < 2) {
    return null;
  }
  const [[alias, inputText] = ["", ""], ...others] = [...inputs.values];
  const input = inlineTable(inputText);
  const isPlain = others.length === 0 && hasOnly(head, "format name title subsystem version of about source ends_after");
  if (!isPlain || input === null || !hasOnly(input, "meaning fields unit") || states.some(({ header }) => header !== "states")) {
    return null;
  }
  const known = new Map([...limits.values].map(([name, text]) => [name, inlineTable(text)] as const));
  const conditions = states.slice(0, -1).map((state) => conditionOf(textsOf(state), alias, known));
  const last = states.at(-1);
  const fine = last === undefined ? null : textsOf(last);
  const complete = conditions.filter((condition) => condition !== null);
  const isFine = fine?.["state"] === "green" && hasOnly(fine, "state action explanation");
  if (!isFine || complete.length < conditions.length || known.size !== new Set(complete.map(({ limit }) => limit)).size) {
    return null;
  }
  const { meaning, fields, unit = "" } = input;
  return {
    name: head["name"] ?? "",
    title: head["title"] ?? "",
    subsystem: head["subsystem"] ?? "",
    version: Number(head["version"] ?? "1"),
    of: head["of"] ?? "",
    about: head["about"] ?? "",
    source: head["source"] ?? "",
    endsAfter: head["ends_after"] ?? "",
    input: meaning === undefined ? `field:${fields ?? ""}` : meaning === "" ? "" : `meaning:${meaning}`,
    unit,
    conditions: complete.map(({ limit: _, ...condition }) => condition),
    fineAction: fine["action"] ?? "",
    fineExplanation: fine["explanation"] ?? "",
  };
}

function conditionOf(state: Texts | null, alias: string, limits: ReadonlyMap<string, Texts | null>) {
  const pattern = /^(?:mean\((?<mean>\w+), ?'(?<span>[^']*)'\)|(?<plain>\w+)) (?<comparison>>=|>|<=|<) limit\.(?<limit>\w+)$/;
  const found = pattern.exec(state?.["when"] ?? "")?.groups;
  const limit = limits.get(found?.["limit"] ?? "") ?? null;
  const severity = state?.["state"];
  const comparison = found?.["comparison"];
  const isOfInput = (found?.["mean"] ?? found?.["plain"]) === alias;
  const isKnown = state !== null && found !== undefined && limit !== null && isOfInput;
  if (!isKnown || !isOneOf(SEVERITIES, severity) || !isOneOf(COMPARISONS, comparison)) {
    return null;
  }
  const hasBoth = found["mean"] !== undefined && state["for"] !== undefined;
  if (hasBoth || !hasOnly(state, "state when for action explanation") || !hasOnly(limit, "value unit source")) {
    return null;
  }
  const condition: RuleCondition = {
    severity,
    comparison,
    level: limit["value"] ?? "",
    levelSource: limit["source"] ?? "",
    judged: found["mean"] === undefined ? "held" : "mean",
    duration: found["span"] ?? state["for"] ?? "",
    action: state["action"] ?? "",
    explanation: state["explanation"] ?? "",
  };
  return { ...condition, limit: found["limit"] ?? "" };
}

const SIZES = new Set(["B", "bytes", "kB", "KiB", "MB", "MiB", "GB", "GiB", "TB", "TiB", "PB", "PiB", "sectors"]);
const TIMES = new Set(["ns", "us", "ms", "s"]);

/** Return the unit in which a rule reads a field: sizes in bytes, times in milliseconds, counters for each second. */
export function ruleUnit({ unit, semantics }: Pick<FieldInfo, "unit" | "semantics">): string {
  const name = unit.replace(/\/s$/, "");
  const isRate = unit.endsWith("/s") || semantics === "counter";
  if (SIZES.has(name)) {
    return isRate ? "bytes/s" : "bytes";
  }
  if (isRate) {
    return "1/s";
  }
  return TIMES.has(name) ? "ms" : name === "%" ? "%" : "1";
}

export interface InputChoice {
  readonly value: string;
  readonly label: string;
  readonly unit: string;
}

/** Return what a rule can look at: measures of any tool first, then the fields of each tool. */
export function inputChoices(
  stats: readonly StatInfo[],
): readonly { readonly group: string; readonly items: readonly InputChoice[] }[] {
  const measures = new Map<string, InputChoice>();
  const fields: InputChoice[] = [];
  for (const stat of stats) {
    for (const field of stat.fields) {
      const unit = ruleUnit(field);
      const path = `${stat.name}.${field.key}`;
      const isCounter = field.semantics === "counter";
      fields.push({ value: `field:${isCounter ? `rate(${path})` : path}`, label: `${path}: ${field.help}`, unit });
      for (const meaning of field.meanings) {
        if (!isCounter && !measures.has(meaning)) {
          measures.set(meaning, { value: `meaning:${meaning}`, label: `${meaning}: ${field.help}`, unit });
        }
      }
    }
  }
  const byName = [...measures.values()].sort((a, b) => a.value.localeCompare(b.value));
  return [
    { group: "Measures of any tool", items: byName },
    { group: "Fields of one tool", items: fields },
  ];
}
