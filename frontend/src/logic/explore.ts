/** Explore: metrics drawn without a panel, as a link names them. */

import type { StatInfo } from "./api";
import { type CustomPanel, formatChoice, type InstanceChoice, type PanelPlan, parseChoice, plansOf } from "./panel";

/** Fields of a stat; none: those that its own panels draw. Without a choice of instances, the usual one is taken. */
export interface ExploredMetric {
  readonly stat: string;
  readonly fields: readonly string[];
  readonly choice: InstanceChoice | null;
}

/** As many graphs as can be compared at a glance. */
export const MAX_EXPLORED = 6;

/** `mpstat_linux.iowait_pct`, `iostat_linux.util.only:sda`, `iostat_linux..only:sda` for all that its panels draw. */
export function formatExplored({ stat, fields, choice }: ExploredMetric): string {
  return `${stat}.${fields.join(",")}${choice === null ? "" : `.${formatChoice(choice)}`}`;
}

/** Missing: null if the text is not a metric. */
export function parseExplored(text: string): ExploredMetric | null {
  const [, stat, fields, choiceText] = /^([a-z]\w*)\.((?:[a-z]\w*(?:,[a-z]\w*)*)?)(?:\.(.*))?$/s.exec(text) ?? [];
  const choice = choiceText === undefined ? null : parseChoice(choiceText);
  if (stat === undefined || fields === undefined || (choiceText !== undefined && choice === null)) {
    return null;
  }
  return { stat, fields: fields === "" ? [] : fields.split(","), choice };
}

/** An explored metric as it is drawn. */
export interface ExploredPlan {
  readonly metric: ExploredMetric;
  readonly index: number;
  /** Missing: null if the host does not send the stat, or the stat has no such field. */
  readonly stat: StatInfo | null;
  readonly plans: readonly PanelPlan[];
  /** What adding it to the host's panels adds. */
  readonly panel: CustomPanel | null;
}

/** Return what to draw for each metric. `stats` are those that the host sends. */
export function planExplored(metrics: readonly ExploredMetric[], stats: readonly StatInfo[]): readonly ExploredPlan[] {
  return metrics.map((metric, index) => {
    const stat = stats.find(({ name }) => name === metric.stat) ?? null;
    const fields = stat === null ? [] : knownFields(stat, metric.fields);
    if (stat === null || fields.length === 0) {
      return { metric, index, stat: null, plans: [], panel: null };
    }
    const choice = metric.choice ?? usualChoice(stat, fields[0] ?? "");
    const title = metric.fields.length === 0 ? stat.title : `${stat.title}: ${columnsOf(stat, fields)}`;
    const key = `explore-${String(index)}`;
    const panel = { stat: stat.name, fields, choice };
    const plans = plansOf(stat, { key, title, section: "explore", fields }, choice, metric.choice !== null, false, null);
    return { metric, index, stat, plans, panel };
  });
}

function knownFields(stat: StatInfo, asked: readonly string[]): readonly string[] {
  const known = new Set(stat.fields.map(({ key }) => key));
  const wanted = asked.length > 0 ? asked : stat.panels.flatMap(({ fields }) => fields);
  const found = [...new Set(wanted)].filter((key) => known.has(key));
  return found.length > 0 || asked.length > 0 ? found : stat.fields.slice(0, 1).map(({ key }) => key);
}

function columnsOf(stat: StatInfo, keys: readonly string[]): string {
  return stat.fields
    .filter(({ key }) => keys.includes(key))
    .map(({ column }) => column)
    .join(", ");
}

/** Return the instances that a stat's own panel draws of the field; of a field without a panel, the five that are highest. */
export function usualChoice(stat: Pick<StatInfo, "instance_title" | "panels">, field: string): InstanceChoice {
  if (stat.instance_title === "") {
    return { kind: "one" };
  }
  const panel = stat.panels.find(({ fields }) => fields.includes(field)) ?? null;
  return (panel === null ? null : parseChoice(panel.instances)) ?? { kind: "top", n: 5 };
}

/** Return the list with another metric; the last ones where there are too many. */
export function withExplored(metrics: readonly ExploredMetric[], metric: ExploredMetric): readonly ExploredMetric[] {
  const text = formatExplored(metric);
  return [...metrics.filter((known) => formatExplored(known) !== text), metric].slice(-MAX_EXPLORED);
}
