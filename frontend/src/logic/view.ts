/** Saved views: which panels they show on a host, how they are edited, and their files. */

import type { HostMetric, PanelSource, StatInfo, ViewInfo, ViewPanel } from "./api";
import { formatChoice, type InstanceChoice, parseChoice, type PanelPlan, plansOf } from "./panel";

/** A view on one host: its panels, and those that the host has nothing for. */
export interface ViewSection {
  readonly key: string;
  readonly title: string;
  readonly description: string;
  readonly panels: readonly PanelPlan[];
  /** Panels without a recorded source, each as `Disk errors (iostat_e_solaris)`. */
  readonly missing: readonly string[];
}

type Stats = ReadonlyMap<string, StatInfo>;

/** Return the panels of views on a host. `choices` (by stat and panel) override a view's choice of instances. */
export function planViews(
  stats: readonly StatInfo[],
  hostStats: readonly string[],
  views: readonly ViewInfo[],
  choices: ReadonlyMap<string, InstanceChoice>,
): readonly ViewSection[] {
  const recorded: Stats = new Map(stats.filter(({ name }) => hostStats.includes(name)).map((stat) => [stat.name, stat]));
  return views.map((view) => {
    const planned = view.panels.map((panel, index) => planPanel(recorded, view.key, panel, index, choices));
    return {
      key: view.key,
      title: view.name,
      description: view.description,
      panels: planned.flat(),
      missing: view.panels.flatMap((panel, index) => (planned[index]?.length === 0 ? [describePanel(stats, panel)] : [])),
    };
  });
}

/** Return the fields of a view's panels as metrics of several hosts, each as `STAT.FIELD`; of a panel those of its first known source. */
export function metricsOfView(stats: readonly StatInfo[], known: readonly HostMetric[], view: ViewInfo): readonly string[] {
  const recorded = [...new Set(known.flatMap(({ fields }) => fields.map((field) => field.slice(0, field.indexOf(".")))))];
  const panels = planViews(stats, recorded, [view], new Map()).flatMap((section) => section.panels);
  return [...new Set(panels.flatMap(({ stat, fields }) => fields.map(({ key }) => `${stat.name}.${key}`)))];
}

function planPanel(
  recorded: Stats,
  viewKey: string,
  panel: ViewPanel,
  index: number,
  choices: ReadonlyMap<string, InstanceChoice>,
): readonly PanelPlan[] {
  for (const source of panel.sources) {
    const stat = recorded.get(source.stat);
    const template = stat && templateOf(stat, source);
    if (stat !== undefined && template?.fields.some((key) => stat.fields.some((known) => known.key === key)) === true) {
      const choiceId = `${stat.name}.${template.key}`;
      const chosen = choices.get(choiceId) ?? (source.instances === "" ? null : parseChoice(source.instances));
      const choice = chosen ?? parseChoice(template.instances) ?? ({ kind: "all" } as const);
      const plans = plansOf(
        stat,
        { ...template, key: `${choiceId}.${viewKey}.${String(index)}`, title: panel.title === "" ? template.title : panel.title },
        choice,
        chosen !== null,
        template.is_stacked,
        null,
      );
      return plans.map((plan) => ({ ...plan, isWide: panel.width === "full", height: panel.height ?? null }));
    }
  }
  return [];
}

/** Return the source as a panel of its stat; undefined if the stat has no such panel. */
function templateOf(stat: StatInfo, source: PanelSource): StatInfo["panels"][number] | undefined {
  if (source.panel != null) {
    return stat.panels.find(({ key }) => key === source.panel);
  }
  return {
    key: source.fields[0] ?? "fields",
    title: `${stat.title}: ${source.fields.join(", ")}`,
    section: "other",
    fields: source.fields,
    instances: stat.instance_title === "" ? "" : "top:5",
    is_stacked: false,
  };
}

/** Return a panel's title with the stat that would fill it. */
export function describePanel(stats: readonly StatInfo[], panel: ViewPanel): string {
  const [source] = panel.sources;
  const stat = stats.find(({ name }) => name === source?.stat);
  const title = panel.title !== "" ? panel.title : ((stat && source && templateOf(stat, source)?.title) ?? "");
  const name = source?.stat ?? "";
  return title === "" ? name : `${title} (${name})`;
}

type Looks = ReadonlyMap<string, { readonly height: number | null }>;

/** Return a drawn panel as a panel of a view; it names the same fields and instances, and has the same size. */
export function toViewPanel(plan: PanelPlan, looks: Looks): ViewPanel {
  const [, panelKey] = plan.id.split(".");
  const fields = plan.fields.map(({ key }) => key);
  const own = plan.stat.panels.find((panel) => panel.key === panelKey && panel.fields.join() === fields.join());
  const instances = formatChoice(plan.choice);
  return {
    title: plan.title,
    width: plan.isWide === true ? "full" : "half",
    height: looks.get(plan.id)?.height ?? plan.height ?? null,
    sources: [
      own === undefined
        ? { stat: plan.stat.name, panel: null, fields, instances }
        : { stat: plan.stat.name, panel: own.key, fields: [], instances: instances === own.instances ? "" : instances },
    ],
  };
}

/** Return the panels of a view with the sizes that they have been given by hand since; `null` if there are none. */
export function resizedPanels(view: ViewInfo, plans: readonly PanelPlan[], looks: Looks): ViewInfo["panels"] | null {
  const heights = new Map<number, number>();
  for (const { id } of plans) {
    const [key, index] = id.split(".").slice(2);
    const height = looks.get(id)?.height ?? null;
    if (key === view.key && index !== undefined && height !== null) {
      heights.set(parseInt(index, 10), height);
    }
  }
  return heights.size === 0
    ? null
    : view.panels.map((panel, index) => ({ ...panel, height: heights.get(index) ?? panel.height ?? null }));
}

/** Return a list with one item moved to another place. */
export function moveItem<T>(items: readonly T[], from: number, to: number): readonly T[] {
  const moved = items[from];
  if (moved === undefined || to < 0 || to >= items.length) {
    return items;
  }
  const rest = items.filter((_, index) => index !== from);
  return [...rest.slice(0, to), moved, ...rest.slice(to)];
}

/** The name of the view of an account's own bookmarks. */
export const BOOKMARKS = "Bookmarks";

/** Return the view of an account's bookmarks. Missing: null before the first one. */
export function bookmarksOf(views: readonly ViewInfo[], account: string): ViewInfo | null {
  const isOwn = (view: ViewInfo): boolean => view.may_change && !view.is_shared && view.created_by === account;
  return views.find((view) => view.name === BOOKMARKS && isOwn(view)) ?? null;
}

/** Return whether two panels draw the same, whatever their size. */
export function isSamePanel(a: ViewPanel, b: ViewPanel): boolean {
  const told = ({ title, sources }: ViewPanel): string =>
    JSON.stringify([title, ...sources.map(({ stat, panel, fields, instances }) => [stat, panel ?? "", fields, instances])]);
  return told(a) === told(b);
}

// --- files ---

const FORMAT = "normstat-view";
const FILE_VERSION = 1;

/** What a file of a view holds. */
export type ViewFile = Pick<ViewInfo, "name" | "description" | "panels">;

/** Return a view as the text of a file. */
export function formatViewFile({ name, description, panels }: ViewFile): string {
  return `${JSON.stringify({ format: FORMAT, version: FILE_VERSION, name, description, panels }, null, 2)}\n`;
}

/** Return the view in the text of a file, or a sentence saying why it is none. The server checks its panels. */
export function parseViewFile(text: string): ViewFile | string {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return "This file is not JSON. Choose a file that was exported from a view.";
  }
  if (typeof raw !== "object" || raw === null || !("format" in raw) || raw.format !== FORMAT) {
    return `This file is not a view: "format" is not "${FORMAT}".`;
  }
  if (!("version" in raw) || raw.version !== FILE_VERSION) {
    return "This file was written by another version of normstat, in a format that this one does not read.";
  }
  const { name, description, panels } = raw as Partial<Record<keyof ViewFile, unknown>>;
  if (typeof name !== "string" || typeof description !== "string" || !Array.isArray(panels)) {
    return 'This file is incomplete: a view has "name", "description" and "panels".';
  }
  return { name, description, panels: panels as ViewFile["panels"] };
}

/** Return the views that a link names, in its order, and the keys that name none. */
export function chooseViews(
  views: readonly ViewInfo[],
  keys: readonly string[],
): { readonly chosen: readonly ViewInfo[]; readonly unknown: readonly string[] } {
  const byKey = new Map(views.map((view) => [view.key, view]));
  return { chosen: keys.flatMap((key) => byKey.get(key) ?? []), unknown: keys.filter((key) => !byKey.has(key)) };
}
