/** Groups of findings on the page: order, filters, pins and labels. */

import type { Comparison, FindingKind, FindingGroup, Subsystem } from "./api";
import { formatCount, formatScore } from "./number";
import { counted } from "./counted";

export const GROUP_SORTS = ["anomaly_score", "change_ratio", "impact", "name"] as const;
/** The keys of a record, in their order. */
function keysOf<K extends string>(record: Readonly<Record<K, unknown>>): readonly K[] {
  return Object.keys(record) as K[];
}

export type GroupSort = (typeof GROUP_SORTS)[number];

export const GROUP_SORT_LABELS: Readonly<Record<GroupSort, string>> = {
  anomaly_score: "anomaly score",
  change_ratio: "change ratio",
  impact: "impact",
  name: "name",
};

export const SUBSYSTEM_LABELS: Readonly<Record<Subsystem, string>> = {
  cpu: "CPU",
  memory: "Memory",
  disk: "Disk",
  network: "Network",
  process: "Processes",
  system: "System",
  other: "Others",
};

export const SUBSYSTEMS = keysOf(SUBSYSTEM_LABELS);

/** The kinds of change: a label and an explanation. */
export const KIND_WORDS: Readonly<Record<FindingKind, { readonly label: string; readonly help: string }>> = {
  level: { label: "level", help: "the whole series is higher or lower" },
  top: { label: "highest values", help: "its highest samples changed" },
  bottom: { label: "lowest values", help: "its lowest samples changed" },
  stall: { label: "stalls", help: "it repeatedly falls to zero" },
  spikes: { label: "spikes", help: "short peaks that the baseline does not have" },
  movement: { label: "jitter", help: "it moves more or less from sample to sample" },
  rhythm: { label: "rhythm", help: "it goes up and down with a period that the baseline does not show" },
  frozen: { label: "frozen", help: "it no longer changes from sample to sample" },
  saturated: { label: "at a limit", help: "it stays at a limit" },
  trend: { label: "trend", help: "it rises or falls throughout the window" },
  missing: { label: "missing", help: "samples are missing" },
  appeared: { label: "appeared", help: "it has samples in the incident only" },
  disappeared: { label: "disappeared", help: "it has samples in the baseline only" },
  zero: { label: "was always zero", help: "it was nearly always zero in the baseline" },
};

export const FINDING_KINDS = keysOf(KIND_WORDS);

/** Worse and better are shown by a word and a shape, never by colour alone. */
export interface Mark {
  readonly verdict: "worse" | "better" | "changed";
  readonly arrow: "up" | "down" | "same";
}

export function markOf(group: Pick<FindingGroup, "direction" | "is_worse">): Mark {
  const verdict = group.is_worse === null ? "changed" : group.is_worse ? "worse" : "better";
  return { verdict, arrow: group.direction };
}

/** One group among those of a comparison, for pins in a link: the same inputs give the same groups. */
export interface PinKey {
  readonly host: string;
  readonly stat: string;
  readonly field: string;
  readonly instance: string;
}

/** The strongest member names a group: one CPU of 64 may be a group of its own beside the others. */
export function pinOf(group: Pick<FindingGroup, "host" | "stat" | "field" | "instances">): PinKey {
  return { host: group.host, stat: group.stat, field: group.field, instance: group.instances[0] ?? "" };
}

/** `iostat_linux.util_pct@web1@sdb`: names of stats and fields have no dots, those of hosts no @. */
export function formatPin({ host, stat, field, instance }: PinKey): string {
  return `${stat}.${field}@${host}@${instance}`;
}

/** Missing: null if the text is not a pin. */
export function parsePin(text: string): PinKey | null {
  const [, stat, field, host, instance] = /^([a-z]\w*)\.([a-z]\w*)@([^@]+)@(.*)$/s.exec(text) ?? [];
  return stat === undefined || field === undefined || host === undefined || instance === undefined
    ? null
    : { stat, field, host, instance };
}

/** For React and for sets. */
export function groupKey(group: Pick<FindingGroup, "host" | "stat" | "field" | "instances" | "rank">): string {
  return formatPin(pinOf(group));
}

export interface GroupFilter {
  readonly text: string;
  readonly hosts: readonly string[];
  readonly subsystems: readonly Subsystem[];
  readonly kinds: readonly FindingKind[];
}

function isAmong<T>(chosen: readonly T[], value: T): boolean {
  return chosen.length === 0 || chosen.includes(value);
}

/** Return whether every word of a filter occurs in a text; `-word` must not. */
export function matchesWords(filter: string, text: string): boolean {
  const lower = text.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .every((word) => (word.startsWith("-") && word.length > 1 ? !lower.includes(word.slice(1)) : lower.includes(word)));
}

/** Return the groups that pass every filter; an empty filter passes all. */
export function filterGroups(groups: readonly FindingGroup[], filter: GroupFilter): readonly FindingGroup[] {
  return groups.filter(
    (group) =>
      isAmong(filter.hosts, group.host) &&
      isAmong(filter.subsystems, group.subsystem) &&
      isAmong(filter.kinds, group.kind) &&
      matchesWords(
        filter.text,
        [group.host, group.stat, group.field, group.column, group.unit, group.sentence, ...group.instances].join(" "),
      ),
  );
}

function byText(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

/** Pinned groups first, then by the chosen order; the rank stays the one that the server gave. */
export function sortGroups(groups: readonly FindingGroup[], sort: GroupSort, pins: ReadonlySet<string>): readonly FindingGroup[] {
  const compare: Record<GroupSort, (a: FindingGroup, b: FindingGroup) => number> = {
    anomaly_score: () => 0,
    change_ratio: (a, b) => b.change_ratio - a.change_ratio,
    impact: (a, b) => b.impact - a.impact,
    name: (a, b) => byText(a.host, b.host) || byText(a.stat, b.stat) || byText(a.column, b.column),
  };
  const isPinned = (group: FindingGroup): number => Number(pins.has(groupKey(group)));
  return [...groups].sort((a, b) => isPinned(b) - isPinned(a) || compare[sort](a, b) || a.rank - b.rank);
}

export interface Option<T extends string> {
  readonly value: T;
  readonly count: number;
}

/** Filter options: the values that occur, in the given order, with their number of groups. */
export function optionsOf<T extends string>(
  groups: readonly FindingGroup[],
  known: readonly T[],
  of: (group: FindingGroup) => T,
): readonly Option<T>[] {
  return known
    .map((value) => ({ value, count: groups.filter((group) => of(group) === value).length }))
    .filter(({ count }) => count > 0);
}

/** `61 of 64 CPUs`, `CPU 3, of 64`, `CPU all`, `sdb`; "" for a stat without instances. */
export function describeMembers(
  group: Pick<FindingGroup, "n_members" | "n_instances" | "instances">,
  instanceTitle: string,
): string {
  const [first = ""] = group.instances;
  if (first === "") {
    return "";
  }
  if (group.instances.length === 1) {
    const name = `${instanceTitle} ${first}`.trim();
    return group.n_instances > 1 ? `${name}, of ${formatCount(group.n_instances)}` : name;
  }
  const noun = instanceTitle === "" ? "instances" : instanceTitle.endsWith("s") ? `${instanceTitle}es` : `${instanceTitle}s`;
  return `${formatCount(group.n_members)} of ${formatCount(group.n_instances)} ${noun}`;
}

/** Kinds of change of a series that has samples on one side only. */
const UNMATCHED_KINDS: readonly FindingKind[] = ["appeared", "disappeared"];

/** `12.4x its normal variation`; what is on one side only is measured by what comes and goes in the baseline. */
export function describeChangeRatio(ratio: number, kind: FindingKind): string {
  return `${formatScore(ratio)}x ${UNMATCHED_KINDS.includes(kind) ? "what normally comes and goes" : "its normal variation"}`;
}

/** The number of series in each list; they add up. */
export function describeAccount(comparison: Comparison): string {
  const { n_series, n_findings, n_groups, n_unchanged, counts } = comparison;
  const parts = [
    `${formatCount(n_findings)} changed${n_groups === n_findings ? "" : ` (in ${counted(n_groups, "group")})`}`,
    `${formatCount(n_unchanged)} unchanged`,
    `${formatCount(counts.appeared)} appeared`,
    `${formatCount(counts.disappeared)} disappeared`,
    `${formatCount(counts.insufficient_data)} with insufficient data`,
    ...(counts.muted === 0 ? [] : [`${formatCount(counts.muted)} muted`]),
  ];
  return `Of ${counted(n_series, "series", "series")}: ${parts.join(", ")}`;
}

/** The change ratios of all kinds, largest first. */
export function describeRatios(ratios: Readonly<Record<string, number>>): string {
  return Object.entries(ratios)
    .filter(([, ratio]) => ratio > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([name, ratio]) => `${name} ${formatScore(ratio)}`)
    .join(", ");
}

/** The series of a mute; null: every host, or every instance. */
export interface MutedSeries {
  readonly host: string | null;
  readonly stat: string;
  readonly field: string;
  readonly instance: string | null;
}

/** `vmstat_linux cpu_us of sda on web1`, `… of all instances on all hosts`. */
export function describeMute({ host, stat, field, instance }: MutedSeries): string {
  const of = instance === null ? " of all instances" : instance === "" ? "" : ` of ${instance}`;
  return `${stat} ${field}${of} on ${host ?? "all hosts"}`;
}

/** Return the choices for muting a group: its one instance, the field of all instances, and that on every host. */
export function muteChoices(
  group: Pick<FindingGroup, "host" | "stat" | "field" | "instances">,
  instanceTitle: string,
): readonly { readonly label: string; readonly mute: MutedSeries }[] {
  const { host, stat, field } = group;
  const [first = ""] = group.instances;
  const isOne = group.instances.length === 1 && first !== "";
  const all = first === "" ? "" : " of all instances";
  return [
    ...(isOne
      ? [{ label: `only ${`${instanceTitle} ${first}`.trim()}, on ${host}`, mute: { host, stat, field, instance: first } }]
      : []),
    { label: `${field}${all}, on ${host}`, mute: { host, stat, field, instance: null } },
    { label: `${field}${all}, on every host`, mute: { host: null, stat, field, instance: null } },
  ];
}

/** Return the list with the value added, or removed if it was there. */
export function toggledOf<T>(chosen: readonly T[], value: T): readonly T[] {
  return chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value];
}
