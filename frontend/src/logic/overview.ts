/** The order of a host's page: an overview of at most nine panels, and the others by section, folded where they show nothing new. */

import type { QuietStat, ViewInfo } from "./api";
import { MIN_HEIGHT, USUAL_HEIGHT } from "./look";
import type { PanelPlan, Section } from "./panel";
import type { ScoreRow } from "./scores";

/** The key of the ready-made view that names what belongs into the overview. */
export const OVERVIEW_KEY = "overview";
export const MAX_OVERVIEW = 9;
/** What a host is, reported once an hour: beside what is measured, a panel of it is empty in nearly every window. */
const FACTS = "host_facts";

export interface HostLayout {
  /** The panels that the link adds. */
  readonly added: readonly Section[];
  readonly overview: readonly PanelPlan[];
  /** The other panels, in the order of the sections. */
  readonly sections: readonly Section[];
}

/** The panels of a section, and those that are folded, each with the reason. */
export interface FoldedSection extends Section {
  readonly folded: readonly Folded[];
}

export interface Folded {
  readonly why: "zero" | "empty" | "alike";
  readonly panels: readonly PanelPlan[];
}

/**
 * Return the panels of a page in their places. The overview has, for each panel of its view, the first source that the host
 * recorded; where the host recorded little, it is filled with others, of each section in turn.
 */
export function layOut(sections: readonly Section[], view: ViewInfo | undefined): HostLayout {
  const added = sections.filter(({ key }) => key === "added");
  const recorded = sections.filter(({ key }) => key !== "added");
  const byId = new Map(recorded.flatMap(({ panels }) => panels).map((plan) => [plan.id, plan]));
  const chosen = (view?.panels ?? []).flatMap(({ sources }) => {
    const [first] = sources.flatMap(({ stat, panel }) => byId.get(`${stat}.${panel ?? ""}`) ?? []);
    return first ?? [];
  });
  const inOrder = inTurn(recorded);
  const measured = inOrder.filter(({ stat }) => stat.name !== FACTS);
  const overview = [...new Set([...chosen, ...(measured.length > 0 ? measured : inOrder)])].slice(0, MAX_OVERVIEW);
  const taken = new Set(overview.map(({ id }) => id));
  const others = recorded
    .map((section) => ({ ...section, panels: section.panels.filter(({ id }) => !taken.has(id)) }))
    .filter(({ panels }) => panels.length > 0);
  return { added, overview, sections: others };
}

/** Return the first panel of each section, then the second ones, and so on. */
function inTurn(sections: readonly Section[]): readonly PanelPlan[] {
  const longest = Math.max(0, ...sections.map(({ panels }) => panels.length));
  return Array.from({ length: longest }, (_, at) => sections.flatMap(({ panels }) => panels[at] ?? [])).flat();
}

/**
 * Return the panels that show what another one of the host shows, by another tool: ready-made views name the panels of several
 * tools that stand for each other, the best first.
 */
export function alikePanels(sections: readonly Section[], views: readonly ViewInfo[]): ReadonlySet<string> {
  const byId = new Map(sections.flatMap(({ panels }) => panels).map((plan) => [plan.id, plan]));
  const alike = new Set<string>();
  for (const { sources } of views.filter(({ is_ready_made }) => is_ready_made).flatMap(({ panels }) => panels)) {
    const [best, ...others] = sources.flatMap(({ stat, panel }) => byId.get(`${stat}.${panel ?? ""}`) ?? []);
    for (const other of others) {
      if (best !== undefined && best.stat.tool !== other.stat.tool && best.unit === other.unit) {
        alike.add(other.id);
      }
    }
  }
  return alike;
}

/** Return a section with its panels that show nothing in the window, or nothing new, folded. `kept`: those that the link is about */
export function foldSection(
  section: Section,
  quiet: readonly QuietStat[],
  alike: ReadonlySet<string>,
  kept: ReadonlySet<string>,
): FoldedSection {
  const byStat = new Map(quiet.map((own) => [own.stat, own]));
  const why = ({ id, stat, fields }: PanelPlan): Folded["why"] | null => {
    const own = byStat.get(stat.name);
    if (kept.has(id)) {
      return null;
    }
    if (own?.has_samples === false) {
      return "empty";
    }
    // Nothing idle or free is no calm.
    if (own !== undefined && fields.every(({ key, worse }) => worse !== "lower" && own.zero_fields.includes(key))) {
      return "zero";
    }
    return alike.has(id) ? "alike" : null;
  };
  const reasons = section.panels.map((plan) => ({ plan, reason: why(plan) }));
  const folded = (["zero", "empty", "alike"] as const).map((reason) => ({
    why: reason,
    panels: reasons.filter((own) => own.reason === reason).map(({ plan }) => plan),
  }));
  return {
    ...section,
    panels: reasons.filter(({ reason }) => reason === null).map(({ plan }) => plan),
    folded: folded.filter(({ panels }) => panels.length > 0),
  };
}

/** Return what a fold says: `6 panels are zero`. */
export function describeFold({ why, panels }: Folded): string {
  const n = panels.length;
  const subject = n === 1 ? "1 panel" : `${String(n)} panels`;
  return {
    zero: `${subject} ${n === 1 ? "is" : "are"} zero`,
    empty: `${subject} without samples in this window`,
    alike: `${subject} with the same from another tool`,
  }[why];
}

/** Which subsystems of the continuous comparison a section of panels is about. */
const SUBSYSTEMS: Readonly<Record<string, readonly string[]>> = {
  cpu: ["cpu"],
  memory: ["memory"],
  disk: ["disk", "filesystem"],
  network: ["network", "nfs"],
  lock: ["locks"],
  other: ["other"],
};

/** Return the row of the subsystem of a section that was most unusual. Missing: null where none was */
export function unusualIn(section: string, rows: readonly ScoreRow[]): ScoreRow | null {
  const own = rows.filter(({ subsystem }) => SUBSYSTEMS[section]?.includes(subsystem) === true);
  // The rows come highest first.
  return own[0] ?? null;
}

/** What the page around the overview takes: its header, the bar of the host, and per row the head, legend and edges of a panel. */
const AROUND = { page: 196, row: 76 };
const COLUMNS = 3;

/** Return the height of the graphs of an overview with which its rows fit into a window of this height, within limits. */
export function overviewHeight(window: number, nPanels: number): number {
  const room = (window - AROUND.page) / Math.max(1, Math.ceil(nPanels / COLUMNS)) - AROUND.row;
  return Math.round(Math.min(USUAL_HEIGHT, Math.max(MIN_HEIGHT, room)));
}
