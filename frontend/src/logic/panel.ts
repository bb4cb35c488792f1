/** Which graphs a host page shows: those of the catalogue, and those that the link adds. Knows no tool by name. */

import type { FieldInfo, StatInfo } from "./api";

/** Which rows of a stat a panel draws. `one` = a stat with one row a report. */
export type InstanceChoice =
  | { readonly kind: "one" }
  | { readonly kind: "all" }
  | { readonly kind: "top"; readonly n: number }
  | { readonly kind: "only"; readonly names: readonly string[] }
  /** All of them, one field, each a row of colours. */
  | { readonly kind: "heatmap"; readonly field: string };

/** A panel that a person added: a stat, fields and instances. */
export interface CustomPanel {
  readonly stat: string;
  readonly fields: readonly string[];
  readonly choice: InstanceChoice;
}

export interface PanelPlan {
  /** Stable, for React and for the link: `<stat>.<panel key>`, or `custom-<number>`. */
  readonly id: string;
  readonly title: string;
  readonly section: string;
  readonly stat: StatInfo;
  readonly fields: readonly FieldInfo[];
  readonly unit: string;
  readonly choice: InstanceChoice;
  readonly isStacked: boolean;
  /** Index in the link's list of added panels; null for a panel of the catalogue. */
  readonly customIndex: number | null;
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

/** `top:5`, `all`, `heatmap:usr`, `only:0,1` (names percent-encoded), or "" for stats with one row a report. */
export function formatChoice(choice: InstanceChoice): string {
  switch (choice.kind) {
    case "one":
      return "";
    case "all":
      return "all";
    case "top":
      return `top:${String(choice.n)}`;
    case "heatmap":
      return `heatmap:${choice.field}`;
    case "only":
      return `only:${choice.names.map(encodeName).join(",")}`;
  }
}

// Commas separate names; the rest stays readable, because the address encodes what it must by itself.
function encodeName(name: string): string {
  return name.replaceAll("%", "%25").replaceAll(",", "%2C");
}

/** What formatChoice wrote, and the catalogue's `only:NAME`. Missing: null where it is no choice. */
export function parseChoice(text: string): InstanceChoice | null {
  if (text === "") {
    return { kind: "one" };
  }
  if (text === "all") {
    return { kind: "all" };
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

/** `all`, `top 5`, or the names of those that were chosen: `CPU all` is the instance that mpstat calls so. */
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
    case "only":
      return choice.names.length <= 3
        ? `${instanceTitle} ${choice.names.join(", ")}`.trim()
        : `${String(choice.names.length)} chosen`;
  }
}

/** A panel shows one unit; fields of another unit get a panel of their own. */
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

function plansOf(
  stat: StatInfo,
  panel: { readonly key: string; readonly title: string; readonly section: string; readonly fields: readonly string[] },
  choice: InstanceChoice,
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
    isStacked,
    customIndex,
  }));
}

/**
 * The sections of a host's page, each with its panels, in the order of the catalogue; sections without panels are left out.
 * Panels of stats that the host never sent are left out; `choices` (by panel id) replaces the catalogue's choice of instances.
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
      plans.push(...plansOf(stat, { key, title, section: "added", fields: panel.fields }, panel.choice, false, index));
    }
  }
  for (const stat of stats.filter(({ name }) => hostStats.includes(name))) {
    for (const panel of stat.panels) {
      const id = `${stat.name}.${panel.key}`;
      const choice = choices.get(id) ?? parseChoice(panel.instances) ?? { kind: "all" };
      plans.push(...plansOf(stat, { ...panel, key: id }, choice, panel.is_stacked, null));
    }
  }
  return SECTIONS.map(([key, title]) => ({ key, title, panels: plans.filter(({ section }) => section === key) })).filter(
    ({ panels }) => panels.length > 0,
  );
}

/** The fields that a panel asks for: a heatmap shows one of them, the others the menu. */
export function fieldsAsked({ choice, fields }: Pick<PanelPlan, "choice" | "fields">): readonly FieldInfo[] {
  const one = choice.kind === "heatmap" ? (fields.find(({ key }) => key === choice.field) ?? fields[0]) : undefined;
  return one === undefined ? fields : [one];
}

/** Whether a panel is rows of colours rather than lines. */
export function isHeatmap({ choice, stat }: Pick<PanelPlan, "choice" | "stat">): boolean {
  return stat.shape === "histogram" || choice.kind === "heatmap";
}

/** The panel's id in the catalogue: what a choice of instances in the link is about. */
export function choiceKey(plan: PanelPlan): string {
  return plan.id.split(".").slice(0, 2).join(".");
}

export interface OptionGroup {
  readonly group: string;
  readonly items: readonly { readonly value: string; readonly label: string }[];
}

/** The fields of a stat for a menu, under the titles that the tool prints above its columns. */
export function fieldOptions(stat: StatInfo): readonly OptionGroup[] {
  const groups = new Map<string, { value: string; label: string }[]>();
  for (const field of stat.fields) {
    const unit = field.unit === "" ? "" : ` (${field.unit})`;
    const item = { value: field.key, label: `${field.column}${unit}${field.is_documented ? "" : ", undocumented"}` };
    groups.set(field.group, [...(groups.get(field.group) ?? []), item]);
  }
  return [...groups].map(([group, items]) => ({ group: group === "" ? "columns" : group, items }));
}
