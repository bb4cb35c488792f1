/** The panels of a host page: those of the catalogue and those added in the link. No tool is known by name. */

import type { FieldInfo, StatInfo } from "./api";

/** The instances of a stat that a panel draws. `one` = a stat with one row per report. */
export type InstanceChoice =
  | { readonly kind: "one" }
  | { readonly kind: "all" }
  | { readonly kind: "top"; readonly n: number }
  | { readonly kind: "only"; readonly names: readonly string[] }
  /** All of them, one field, each a row of colours. */
  | { readonly kind: "heatmap"; readonly field: string }
  /** All CPUs: how busy each is, a row of colours, and the imbalance over them. */
  | { readonly kind: "balance" };

/** A panel added by the user: a stat, fields and instances. */
export interface CustomPanel {
  readonly stat: string;
  readonly fields: readonly string[];
  readonly choice: InstanceChoice;
}

export interface PanelPlan {
  /** A stable id for React and the link: `<stat>.<panel key>`, or `custom-<number>`. */
  readonly id: string;
  readonly title: string;
  readonly section: string;
  readonly stat: StatInfo;
  readonly fields: readonly FieldInfo[];
  readonly unit: string;
  readonly choice: InstanceChoice;
  /** Whether the link names the instances; else the panel may choose how it draws many of them. */
  readonly isChosen: boolean;
  readonly isStacked: boolean;
  /** The index in the link's list of added panels; null for a panel of the catalogue or of a view. */
  readonly customIndex: number | null;
  /** Whether it takes the whole width of the page. */
  readonly isWide?: boolean;
  /** Pixels of the graph in a view; null or none: as usual. */
  readonly height?: number | null;
}

export interface Section {
  readonly key: string;
  readonly title: string;
  readonly panels: readonly PanelPlan[];
}

const SECTIONS: readonly (readonly [string, string])[] = [
  ["added", "Added panels"],
  ["cpu", "CPU"],
  ["memory", "Memory"],
  ["disk", "Disk"],
  ["network", "Network"],
  ["process", "Processes"],
  ["lock", "Locks"],
  ["trace", "Traces"],
  ["other", "Others"],
];

/**
 * Return a choice for the link: `top:5`, `all`, `heatmap:usr`, `balance`, `only:0,1` (names percent-encoded), or "" for
 * stats with one row per report.
 */
export function formatChoice(choice: InstanceChoice): string {
  switch (choice.kind) {
    case "one":
      return "";
    case "all":
    case "balance":
      return choice.kind;
    case "top":
      return `top:${String(choice.n)}`;
    case "heatmap":
      return `heatmap:${choice.field}`;
    case "only":
      return `only:${choice.names.map(encodeName).join(",")}`;
  }
}

// Only commas need encoding here; the URL encodes the rest.
function encodeName(name: string): string {
  return name.replaceAll("%", "%25").replaceAll(",", "%2C");
}

/** Parse the result of formatChoice, or the catalogue's `only:NAME`; return null if it is invalid. */
export function parseChoice(text: string): InstanceChoice | null {
  if (text === "") {
    return { kind: "one" };
  }
  if (text === "all") {
    return { kind: "all" };
  }
  if (text === "balance") {
    return { kind: "balance" };
  }
  const top = /^top:([1-9]\d{0,2})$/.exec(text);
  if (top) {
    return { kind: "top", n: Number(top[1]) };
  }
  const [, field] = /^heatmap:([a-z]\w{0,62})$/.exec(text) ?? [];
  if (field !== undefined) {
    return { kind: "heatmap", field };
  }
  if (text.startsWith("only:") && text.length > "only:".length) {
    const names = text.slice("only:".length).split(",");
    return { kind: "only", names: names.map((name) => name.replaceAll("%2C", ",").replaceAll("%25", "%")) };
  }
  return null;
}

/** Return a choice as text: `all`, `top 5`, or the chosen names, such as `CPU all`, the instance that mpstat prints. */
export function describeChoice(choice: InstanceChoice, instanceTitle: string): string {
  switch (choice.kind) {
    case "one":
      return "";
    case "all":
      return "all";
    case "top":
      return `top ${String(choice.n)}`;
    case "heatmap":
      return "all, heatmap";
    case "balance":
      return "busy and imbalance";
    case "only":
      return choice.names.length <= 3
        ? `${instanceTitle} ${choice.names.join(", ")}`.trim()
        : `${String(choice.names.length)} chosen`;
  }
}

/** Group fields by unit, because a panel shows one unit. */
function byUnit(fields: readonly FieldInfo[]): readonly (readonly [string, readonly FieldInfo[]])[] {
  const groups = new Map<string, FieldInfo[]>();
  for (const field of fields) {
    const group = groups.get(field.unit);
    if (group === undefined) {
      groups.set(field.unit, [field]);
    } else {
      group.push(field);
    }
  }
  return [...groups];
}

/** Return the panels of some fields of a stat: one for each unit. */
export function plansOf(
  stat: StatInfo,
  panel: { readonly key: string; readonly title: string; readonly section: string; readonly fields: readonly string[] },
  choice: InstanceChoice,
  isChosen: boolean,
  isStacked: boolean,
  customIndex: number | null,
): readonly PanelPlan[] {
  const known = new Map(stat.fields.map((field) => [field.key, field]));
  const groups = byUnit(panel.fields.flatMap((key) => known.get(key) ?? []));
  return groups.map(([unit, fields], index) => ({
    id: index === 0 ? panel.key : `${panel.key}.${String(index + 1)}`,
    title: groups.length > 1 ? `${panel.title}, ${unit === "" ? "number" : unit}` : panel.title,
    section: panel.section,
    stat,
    fields,
    unit,
    choice,
    isChosen,
    isStacked,
    customIndex,
  }));
}

/**
 * Return the sections of a host's page with their panels, in the order of the catalogue, without empty sections and without
 * panels of stats that the host never sent. `choices` (by panel id) override the catalogue's choice of instances.
 */
export function planSections(
  stats: readonly StatInfo[],
  hostStats: readonly string[],
  custom: readonly CustomPanel[],
  choices: ReadonlyMap<string, InstanceChoice>,
): readonly Section[] {
  const plans: PanelPlan[] = [];
  for (const [index, panel] of custom.entries()) {
    const stat = stats.find(({ name }) => name === panel.stat);
    if (stat !== undefined) {
      const title = `${stat.title}: ${panel.fields.join(", ")}`;
      const key = `custom-${String(index)}`;
      plans.push(...plansOf(stat, { key, title, section: "added", fields: panel.fields }, panel.choice, true, false, index));
    }
  }
  for (const stat of stats.filter(({ name }) => hostStats.includes(name))) {
    for (const panel of stat.panels) {
      const id = `${stat.name}.${panel.key}`;
      const choice = choices.get(id) ?? parseChoice(panel.instances) ?? { kind: "all" };
      plans.push(...plansOf(stat, { ...panel, key: id }, choice, choices.has(id), panel.is_stacked, null));
    }
    plans.push(...balancePlans(stat, choices));
  }
  return SECTIONS.map(([key, title]) => ({ key, title, panels: plans.filter(({ section }) => section === key) })).filter(
    ({ panels }) => panels.length > 0,
  );
}

/** Return the field of a stat that tells how long each CPU is idle; null for stats without one. */
export function idleField({
  fields,
  instance_title,
  shape,
}: Pick<StatInfo, "fields" | "instance_title" | "shape">): FieldInfo | null {
  const isByCpu = instance_title === "CPU" && shape === "table";
  return isByCpu ? (fields.find(({ meanings, unit }) => unit === "%" && meanings.includes("cpu.idle")) ?? null) : null;
}

/** Return the panel of all CPUs of a stat that tells the idle time of each; none for other stats. */
function balancePlans(stat: StatInfo, choices: ReadonlyMap<string, InstanceChoice>): readonly PanelPlan[] {
  const idle = idleField(stat);
  const key = `${stat.name}.balance`;
  const panel = { key, title: "CPUs", section: "cpu", fields: idle === null ? [] : [idle.key] };
  return plansOf(stat, panel, choices.get(key) ?? { kind: "balance" }, choices.has(key), false, null);
}

/** Return the added panels of stats or fields that are not among these: the host has never recorded them. */
export function lackingPanels(
  custom: readonly CustomPanel[],
  stats: readonly StatInfo[],
): readonly Pick<PanelPlan, "customIndex" | "title">[] {
  const known = new Set(stats.flatMap(({ name, fields }) => fields.map(({ key }) => `${name}.${key}`)));
  return custom.flatMap(({ stat, fields }, customIndex) =>
    fields.some((key) => known.has(`${stat}.${key}`)) ? [] : [{ customIndex, title: `${stat}: ${fields.join(", ")}` }],
  );
}

/** Return the fields that a panel fetches: a heatmap shows one at a time. */
export function fieldsAsked({ choice, fields }: Pick<PanelPlan, "choice" | "fields">): readonly FieldInfo[] {
  const one = choice.kind === "heatmap" ? (fields.find(({ key }) => key === choice.field) ?? fields[0]) : undefined;
  return one === undefined ? fields : [one];
}

/** Return the metric of a panel in a graph of several hosts: its first field, and the instance if the panel has only one. */
export function graphMetric(plan: Pick<PanelPlan, "stat" | "fields" | "choice">): {
  readonly metric: string;
  readonly instance: string | null;
} {
  const [field] = fieldsAsked(plan);
  const { choice } = plan;
  const [only, ...others] = choice.kind === "only" ? choice.names : [];
  return { metric: `${plan.stat.name}.${field?.key ?? ""}`, instance: only !== undefined && others.length === 0 ? only : null };
}

/** More lines cannot be told apart. */
export const MAX_LINES = 16;

/** Return a panel as it is drawn with this number of instances: all of many are a heatmap, unless the user chose lines. */
export function planFor(plan: PanelPlan, nInstances: number): PanelPlan {
  const isMany = nInstances > MAX_LINES && plan.choice.kind === "all" && !plan.isChosen && plan.stat.shape === "table";
  return isMany ? { ...plan, choice: { kind: "heatmap", field: plan.fields[0]?.key ?? "" } } : plan;
}

/** Return whether a panel is a heatmap. */
export function isHeatmap({ choice, stat }: Pick<PanelPlan, "choice" | "stat">): boolean {
  return stat.shape === "histogram" || choice.kind === "heatmap";
}

/** Return the panel's key for choices of instances in the link. */
export function choiceKey(plan: PanelPlan): string {
  return plan.id.split(".").slice(0, 2).join(".");
}

export interface OptionGroup {
  readonly group: string;
  readonly items: readonly { readonly value: string; readonly label: string }[];
}

/** Return the fields of a stat for a menu, grouped by the headings that the tool prints. */
export function fieldOptions(stat: StatInfo): readonly OptionGroup[] {
  const groups = new Map<string, { value: string; label: string }[]>();
  for (const field of stat.fields) {
    const unit = field.unit === "" ? "" : ` (${field.unit})`;
    const item = { value: field.key, label: `${field.column}${unit}${field.is_documented ? "" : ", undocumented"}` };
    groups.set(field.group, [...(groups.get(field.group) ?? []), item]);
  }
  return [...groups].map(([group, items]) => ({ group: group === "" ? "columns" : group, items }));
}
