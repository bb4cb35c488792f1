/** Groups of findings on the page: their order, filters, pins, and what is said about one. */

import type { Comparison, FindingKind, Group, Subsystem } from "./api";
import { formatCount, formatScore, plural } from "./number";

export const GROUP_SORTS = ["weight", "score", "impact", "name"] as const;
export type GroupSort = (typeof GROUP_SORTS)[number];

export const GROUP_SORT_LABELS: Readonly<Record<GroupSort, string>> = {
  weight: "what matters most",
  score: "how unusual",
  impact: "impact",
  name: "name",
};

export const SUBSYSTEMS = ["cpu", "memory", "disk", "network", "process", "system", "other"] as const;

export const SUBSYSTEM_LABELS: Readonly<Record<Subsystem, string>> = {
  cpu: "CPU",
  memory: "Memory",
  disk: "Disk",
  network: "Network",
  process: "Processes",
  system: "System",
  other: "Others",
};

export const FINDING_KINDS = [
  "level",
  "spread",
  "shape",
  "top",
  "bottom",
  "stall",
  "spikes",
  "movement",
  "frozen",
  "saturated",
  "trend",
  "missing",
  "appeared",
  "zero",
] as const;

/** What moved, in a word for a label and a sentence for who wants to know. */
export const KIND_WORDS: Readonly<Record<FindingKind, { readonly label: string; readonly help: string }>> = {
  level: { label: "level", help: "all of it is higher or lower" },
  spread: { label: "spread", help: "it swings wider or narrower around its level" },
  shape: { label: "shape", help: "its values are spread otherwise, for example around two levels" },
  top: { label: "highest values", help: "its highest samples reach elsewhere" },
  bottom: { label: "lowest values", help: "its lowest samples reach elsewhere" },
  stall: { label: "stalls", help: "it falls to nothing again and again" },
  spikes: { label: "spikes", help: "short peaks that are not usual" },
  movement: { label: "jitter", help: "it moves more or less from sample to sample" },
  frozen: { label: "frozen", help: "it does not move any more" },
  saturated: { label: "at a limit", help: "it lies flat at a limit" },
  trend: { label: "trend", help: "it climbs or falls all through the window" },
  missing: { label: "missing", help: "samples are missing" },
  appeared: { label: "appeared", help: "it was not there before" },
  zero: { label: "no longer zero", help: "it was nearly always zero before" },
};

/** Worse and better are said by a word and a shape, never by colour alone. */
export interface Mark {
  readonly verdict: "worse" | "better" | "changed";
  readonly arrow: "up" | "down" | "same";
}

export function markOf(group: Pick<Group, "direction" | "is_worse">): Mark {
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
export function pinOf(group: Pick<Group, "host" | "stat" | "field" | "instances">): PinKey {
  return { host: group.host, stat: group.stat, field: group.field, instance: group.instances[0] ?? "" };
}

/** `iostat_linux.util_pct@web1@sdb`: names of stats and fields have no dots, those of hosts no @. */
export function formatPin({ host, stat, field, instance }: PinKey): string {
  return `${stat}.${field}@${host}@${instance}`;
}

/** Missing: null where the text is no pin. */
export function parsePin(text: string): PinKey | null {
  const [, stat, field, host, instance] = /^([a-z]\w*)\.([a-z]\w*)@([^@]+)@(.*)$/s.exec(text) ?? [];
  return stat === undefined || field === undefined || host === undefined || instance === undefined
    ? null
    : { stat, field, host, instance };
}

/** For React and for sets. */
export function groupKey(group: Pick<Group, "host" | "stat" | "field" | "instances" | "rank">): string {
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

/** Whether every word of a filter occurs in a text; `-word` must not. */
export function matchesWords(filter: string, text: string): boolean {
  const lower = text.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .every((word) => (word.startsWith("-") && word.length > 1 ? !lower.includes(word.slice(1)) : lower.includes(word)));
}

/** Groups that pass every filter; an empty list of one lets all through. */
export function filterGroups(groups: readonly Group[], filter: GroupFilter): readonly Group[] {
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
export function sortGroups(groups: readonly Group[], sort: GroupSort, pins: ReadonlySet<string>): readonly Group[] {
  const compare: Record<GroupSort, (a: Group, b: Group) => number> = {
    weight: () => 0,
    score: (a, b) => b.score - a.score,
    impact: (a, b) => b.impact - a.impact,
    name: (a, b) => byText(a.host, b.host) || byText(a.stat, b.stat) || byText(a.column, b.column),
  };
  const isPinned = (group: Group): number => Number(pins.has(groupKey(group)));
  return [...groups].sort((a, b) => isPinned(b) - isPinned(a) || compare[sort](a, b) || a.rank - b.rank);
}

export interface Option<T extends string> {
  readonly value: T;
  readonly count: number;
}

/** What can be filtered by: the values that occur, in the given order, each with its number of groups. */
export function optionsOf<T extends string>(
  groups: readonly Group[],
  known: readonly T[],
  of: (group: Group) => T,
): readonly Option<T>[] {
  return known
    .map((value) => ({ value, count: groups.filter((group) => of(group) === value).length }))
    .filter(({ count }) => count > 0);
}

/** `61 of 64 CPUs`, `CPU 3 of 64`, `sdb`; "" for what the host has once. */
export function describeMembers(group: Pick<Group, "n_members" | "n_instances" | "instances">, instanceTitle: string): string {
  const [first = ""] = group.instances;
  if (first === "") {
    return "";
  }
  if (group.n_members === 1) {
    const name = `${instanceTitle} ${first}`.trim();
    return group.n_instances > 1 ? `${name}, of ${formatCount(group.n_instances)}` : name;
  }
  const noun = instanceTitle === "" ? "instances" : instanceTitle.endsWith("s") ? `${instanceTitle}es` : `${instanceTitle}s`;
  return `${formatCount(group.n_members)} of ${formatCount(group.n_instances)} ${noun}`;
}

/** `12.4 times its usual change`. */
export function describeScore(score: number): string {
  return `${formatScore(score)} times its usual change`;
}

/** Where every series went; the numbers add up. */
export function describeAccount(comparison: Comparison): string {
  const { n_series, n_findings, n_groups, n_unchanged, counts } = comparison;
  const parts = [
    `${formatCount(n_findings)} differ${n_groups === n_findings ? "" : ` (in ${plural(n_groups, "group")})`}`,
    `${formatCount(n_unchanged)} do not`,
    `${formatCount(counts.one_sided)} on one side only`,
    `${formatCount(counts.thin)} not judged`,
    ...(counts.muted === 0 ? [] : [`${formatCount(counts.muted)} muted`]),
  ];
  return `Of ${plural(n_series, "series", "series")}: ${parts.join(", ")}`;
}

/** The parts of a score, the largest first, for who wants to know where it comes from. */
export function describeParts(parts: Readonly<Record<string, number>>): string {
  return Object.entries(parts)
    .filter(([, score]) => score > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([name, score]) => `${name} ${formatScore(score)}`)
    .join(", ");
}

/** Which series a mute silences; null = of every host, or every instance. */
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

/** What can be muted of a group: its one instance, the field with all of them, and that on every host. */
export function muteChoices(
  group: Pick<Group, "host" | "stat" | "field" | "instances" | "n_members" | "n_instances">,
  instanceTitle: string,
): readonly { readonly label: string; readonly mute: MutedSeries }[] {
  const { host, stat, field } = group;
  const [first = ""] = group.instances;
  const isOne = group.n_members === 1 && first !== "";
  const all = first === "" ? "" : " of all instances";
  return [
    ...(isOne
      ? [{ label: `only ${`${instanceTitle} ${first}`.trim()}, on ${host}`, mute: { host, stat, field, instance: first } }]
      : []),
    { label: `${field}${all}, on ${host}`, mute: { host, stat, field, instance: null } },
    { label: `${field}${all}, on every host`, mute: { host: null, stat, field, instance: null } },
  ];
}

/** A list with one value more or less. */
export function toggledOf<T>(chosen: readonly T[], value: T): readonly T[] {
  return chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value];
}
