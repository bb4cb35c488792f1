/** Stories on the page: the group that a story draws, when it began, and the exact values behind its words. */

import type { Circumstance, Comparison, FindingGroup, SideValues, StatInfo, Story, StoryProcess } from "./api";
import { describeDuration, lengthOf, SECOND, toDurationMs, toEpochMs, type Window, wholeSecond } from "./time";
import { formatClock, formatDate, formatInstant, type Zone } from "./zone";

/** Return the stories; the schema of the API does not require them. */
export function storiesOf(comparison: Pick<Comparison, "stories">): readonly Story[] {
  return comparison.stories ?? [];
}

export type Ranked = ReadonlyMap<number, FindingGroup>;

export function byRank(groups: readonly FindingGroup[]): Ranked {
  return new Map(groups.map((group) => [group.rank, group]));
}

/** Return the groups of a story that the result holds, strongest first. */
export function groupsOf(story: Pick<Story, "ranks">, ranked: Ranked): readonly FindingGroup[] {
  return story.ranks.flatMap((rank) => ranked.get(rank) ?? []);
}

/**
 * Return the group whose graph a story shows: the strongest that is drawn and is no detail, what a resource did before what a
 * process did. Null without any group.
 */
export function drawnGroup(story: Pick<Story, "ranks" | "lines">, ranked: Ranked): FindingGroup | null {
  const roles = new Map(story.lines.map(({ rank, role }) => [rank, role]));
  const groups = groupsOf(story, ranked);
  const drawn = groups.filter(({ members }) => members[0]?.sparkline != null);
  const told = drawn.filter(({ rank }) => roles.has(rank) && roles.get(rank) !== "detail");
  const others = drawn.filter(({ rank }) => !roles.has(rank));
  return [...told, ...others, ...drawn, ...groups][0] ?? null;
}

export interface Onset {
  /** `09:35:12` */
  readonly at: string;
  /** `12 s into the incident` */
  readonly into: string;
}

/** Return when a story began, in a zone. Null: nothing left the baseline's range. */
export function describeOnset(onsetMs: number | null, incident: Window, zone: Zone): Onset | null {
  if (onsetMs === null) {
    return null;
  }
  const after = Math.floor((onsetMs - incident.start) / SECOND) * SECOND;
  return {
    at: formatTime(onsetMs, incident, zone),
    into: after <= 0 ? "at the start of the incident" : `${describeDuration(toDurationMs(after))} into the incident`,
  };
}

/** Return a time of the incident in whole seconds, with its date where the incident is longer than a day. */
function formatTime(ms: number, incident: Window, zone: Zone): string {
  const at = wholeSecond(toEpochMs(ms));
  const isClear = lengthOf(incident) < 24 * 60 * 60 * SECOND && formatDate(zone, at) === formatDate(zone, incident.start);
  return isClear ? formatClock(zone, at) : formatInstant(zone, at);
}

/** Return when a circumstance was, in a zone: `12:01:10 to 12:03:02`. Empty where the time is not known. */
export function describeTimes({ start_ms, end_ms }: Circumstance, incident: Window, zone: Zone): string {
  const times = [start_ms, end_ms].flatMap((ms) => (ms === null ? [] : [formatTime(ms, incident, zone)]));
  return start_ms === null ? "" : [...new Set(times)].join(" to ");
}

const CHANGES: Readonly<Record<StoryProcess["change"], string>> = { new: "new", gone: "gone", more: "more", less: "less" };

/** `new, since 09:35:12`, `gone`. */
export function describeProcess({ change, start_ms }: StoryProcess, incident: Window, zone: Zone): string {
  return start_ms === null ? CHANGES[change] : `${CHANGES[change]}, since ${formatTime(start_ms, incident, zone)}`;
}

/** Return the fields of a process that changed, strongest first; else the first ones of its stat. */
export function processFields(
  { host, stat, instance }: Pick<StoryProcess, "host" | "stat" | "instance">,
  groups: readonly FindingGroup[],
  known: StatInfo | null,
): readonly string[] {
  const changed = groups
    .filter((group) => group.host === host && group.stat === stat && group.instances.includes(instance))
    .map(({ field }) => field);
  return changed.length > 0 ? changed : (known?.fields.map(({ key }) => key) ?? []);
}

const exact = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 9 });

function exactOf(value: number | null): string {
  return value === null ? "–" : exact.format(value).replace(/^-/, "−");
}

function describeSide({ n, median, mean, p5, p95, lowest, highest }: SideValues, unit: string): string {
  if (n === 0 || median === null) {
    return "no samples";
  }
  const values = [
    `median ${exactOf(median)}`,
    `mean ${exactOf(mean)}`,
    `p5 to p95 ${exactOf(p5)} to ${exactOf(p95)}`,
    `lowest to highest ${exactOf(lowest)} to ${exactOf(highest)}`,
  ];
  return `${values.join(", ")}${unit === "" ? "" : `, in ${unit}`}`;
}

/** Return the unrounded values of a group's strongest member, for the tooltip of a sentence with rounded ones. */
export function describeExactly(group: FindingGroup): string {
  const [member] = group.members;
  if (member === undefined) {
    return "";
  }
  const name = [group.stat, member.instance, group.column].filter((part) => part !== "").join(" ");
  return `${name}. Incident: ${describeSide(member.incident, group.unit)}. Baseline: ${describeSide(member.baseline, group.unit)}.`;
}

/** Return the unrounded values behind the sentence of a story, one line for each clause. */
export function describeSentence(story: Story, ranked: Ranked): string {
  const groups = groupsOf(story, ranked);
  const ofProcesses = story.processes
    .filter(({ sentence }) => story.sentence.includes(sentence))
    .flatMap(({ stat, instance }) => groups.filter((group) => group.stat === stat && group.instances[0] === instance));
  const ofLines = story.lines.filter(({ text }) => story.sentence.includes(text)).flatMap(({ rank }) => ranked.get(rank) ?? []);
  return [...new Set([...ofProcesses, ...ofLines])].map(describeExactly).join("\n");
}

/** Titles of instances that come and go. */
const SHORT_LIVED = ["process", "command", "thread"];

/**
 * Return whether nothing that matters is left unjudged in a result without findings. Single processes have too few samples on
 * every host; a disk, a counter or a list that is cut short may hide the answer.
 */
export function isAllClear(comparison: Comparison, stats: readonly Pick<StatInfo, "name" | "instance_title">[]): boolean {
  const { appeared, disappeared, insufficient_data, counts } = comparison;
  const listed = [...appeared, ...disappeared, ...insufficient_data];
  const isShortLived = (name: string): boolean =>
    SHORT_LIVED.includes(stats.find((stat) => stat.name === name)?.instance_title ?? "");
  return (
    comparison.n_groups === 0 &&
    comparison.n_unchanged > 0 &&
    listed.length === counts.appeared + counts.disappeared + counts.insufficient_data &&
    listed.every(({ stat }) => isShortLived(stat))
  );
}
