/** Watching: states of rules, what is on now in words, and the timeline of a host and rule. */

import type {
  BacktestHost,
  EpisodeInfo,
  OnNow,
  RuleDetail,
  SeenValue,
  StateChange,
  WatchMute,
  WatchRuleInfo,
  WatchSummary,
} from "./api";
import {
  DAY,
  describeDuration,
  type EpochMs,
  fromApi,
  MINUTE,
  SECOND,
  toDurationMs,
  toEpochMs,
  wholeSecond,
  type Window,
} from "./time";
import { counted } from "./counted";

/** The states of rules, best first, as the server counts them. */
export const COLOURS = ["white", "blue", "green", "amber", "red", "black"] as const;
export type Colour = (typeof COLOURS)[number];

/** Return a state by its place; null for unknown. */
export function colourAt(place: number): Colour | null {
  return COLOURS[place] ?? null;
}

/** Return a state by its name; null for one that is not known. */
export function toColour(name: string): Colour | null {
  return COLOURS.find((colour) => colour === name) ?? null;
}

export const COLOUR_LABELS: Readonly<Record<Colour, string>> = {
  white: "hardly used",
  blue: "used less",
  green: "fine",
  amber: "warning",
  red: "critical",
  black: "failing",
};

/** Return what a rule saw: `smtx 900 /s, sys 40 %`. */
export function describeSeen(saw: readonly SeenValue[]): string {
  return saw.map(({ name, text }) => `${name} ${text}`).join(", ");
}

/** Return an instance as people call it: a CPU has only a number. */
export function nameInstance(instance: string, of: string): string {
  return of === "cpu" && instance !== "" ? `CPU ${instance}` : instance;
}

type InstancesFound = Pick<OnNow, "n_instances"> & {
  readonly episodes: readonly Pick<EpisodeInfo, "instance">[];
  readonly of?: string;
};

/** Return the instances of an entry: `CPU 1, CPU 3, CPU 5 and 61 more`; "" where it is about the host. */
export function describeInstances({ episodes, n_instances, of = "" }: InstancesFound, most = 3): string {
  const names = episodes.map(({ instance }) => nameInstance(instance, of)).filter((name) => name !== "");
  const shown = names.slice(0, most).join(", ");
  return n_instances > most && shown !== "" ? `${shown} and ${String(n_instances - most)} more` : shown;
}

/** The source of the episodes that the continuous comparison finds: it has no rule. */
const COMPARISON = "comparison";

/** Return whether the continuous comparison found something, and no rule. */
export function isOfComparison({ source }: Pick<EpisodeInfo, "source">): boolean {
  return source === COMPARISON;
}

/** A series by its names. */
export interface SeriesName {
  readonly stat: string;
  readonly field: string;
  readonly instance: string;
}

/** Return the series that was highest in an unusual episode, which the server names `STAT FIELD INSTANCE`. Missing: null for others */
export function unusualSeries({ source, saw }: Pick<EpisodeInfo, "source" | "saw">): SeriesName | null {
  const [, stat, field, instance = ""] = /^([a-z]\w*) ([a-z]\w*)(?: (.+))?$/s.exec(saw[0]?.name ?? "") ?? [];
  return isOfComparison({ source }) && stat !== undefined && field !== undefined ? { stat, field, instance } : null;
}

/** Return how long an episode lasted, or lasts. */
export function describeLength(
  { start, last, ended_at }: Pick<EpisodeInfo, "start" | "last" | "ended_at">,
  now: EpochMs,
): string {
  const end = ended_at === null ? now : fromApi(last);
  return describeDuration(toDurationMs(Math.max(SECOND, Math.round((end - fromApi(start)) / SECOND) * SECOND)));
}

/** Return the window of graphs that shows an episode with what came before and after it. */
export function episodeSurroundings({ start, last }: Pick<EpisodeInfo, "start" | "last">): Window {
  const from = fromApi(start);
  const to = fromApi(last);
  const margin = Math.max(10 * MINUTE, Math.round((to - from) / 4));
  return { start: toEpochMs(from - margin), end: toEpochMs(to + margin) };
}

/** Return the window of an episode itself, its last report included. */
export function episodeWindow({ start, last }: Pick<EpisodeInfo, "start" | "last">): Window {
  return { start: fromApi(start), end: toEpochMs(fromApi(last) + SECOND) };
}

/** Return a window with its bounds at whole seconds. */
export function wholeSeconds(window: Window): Window {
  return { start: wholeSecond(window.start), end: wholeSecond(window.end) };
}

/** Return why an episode ended. */
export function describeEnd(endedBy: string | null): string {
  switch (endedBy) {
    case null:
      return "lasts";
    case "fine":
      return "recovered";
    case "no_samples":
      return "no more samples";
    case "withdrawn":
      return "withdrawn: late samples disproved it";
    case "rule_off":
      return "rule changed or switched off";
    default:
      return "not reported any more";
  }
}

/** Return what is watched: `11 rules watch 3 hosts`. */
export function describeWatched({ n_rules, n_hosts }: Pick<WatchSummary, "n_rules" | "n_hosts">): string {
  return `${counted(n_rules, "rule")} ${n_rules === 1 ? "watches" : "watch"} ${counted(n_hosts, "host")}`;
}

/** A time in one state; null: unknown. */
export interface Segment {
  readonly start: EpochMs;
  readonly end: EpochMs;
  readonly colour: Colour | null;
}

/** The states of a rule on a host over time. */
export interface TimelineRow {
  readonly host: string;
  readonly source: string;
  readonly segments: readonly Segment[];
  /** The worst state in the window; -1: unknown all the time. */
  readonly worst: number;
}

/** Return a row for each host and rule, the worst first; changes come by host, rule and time. */
export function toTimeline(changes: readonly StateChange[], window: Window): readonly TimelineRow[] {
  const groups = new Map<string, StateChange[]>();
  for (const change of changes) {
    const key = `${change.host}\n${change.source}`;
    groups.set(key, [...(groups.get(key) ?? []), change]);
  }
  const rows = [...groups.values()].map((own) => ({
    host: own[0]?.host ?? "",
    source: own[0]?.source ?? "",
    segments: own.map(({ at, colour }, index) => ({
      start: fromApi(at),
      end: own[index + 1] === undefined ? window.end : fromApi(own[index + 1]?.at ?? ""),
      colour: colourAt(colour),
    })),
    worst: Math.max(...own.map(({ colour }) => colour)),
  }));
  return rows.sort((a, b) => b.worst - a.worst || a.host.localeCompare(b.host) || a.source.localeCompare(b.source));
}

/** Return what a rule is doing: it watches, is off, was stopped, or cannot be read. */
export function describeRule({
  is_watching,
  is_enabled,
  stopped_why,
  problem,
}: Pick<WatchRuleInfo, "is_watching" | "is_enabled" | "stopped_why" | "problem">): string {
  if (problem !== "") {
    return `cannot be read: ${problem}`;
  }
  if (stopped_why !== "") {
    return `stopped: ${stopped_why}`;
  }
  return is_watching && is_enabled ? "watches" : "off";
}

/** A time in which a rule found something on a host, its instances folded. */
export interface EpisodeRun {
  readonly window: Window;
  readonly colour: Colour;
  readonly worst: EpisodeInfo;
  readonly episodes: readonly EpisodeInfo[];
}

/** What a rule found on a host. */
export interface EpisodeRow {
  readonly source: string;
  readonly title: string;
  readonly runs: readonly EpisodeRun[];
}

/** Return a row for each rule, the worst first; episodes of several instances that overlap are one run. Withdrawn ones are left out. */
export function toEpisodeRows(episodes: readonly EpisodeInfo[], now: EpochMs): readonly EpisodeRow[] {
  const rows = new Map<string, EpisodeRun[]>();
  const valid = episodes.filter(({ ended_by }) => ended_by !== "withdrawn");
  for (const episode of [...valid].sort((a, b) => fromApi(a.start) - fromApi(b.start))) {
    const { start, end } = episodeWindow(episode);
    const run = toRun({ start, end: episode.ended_at === null ? toEpochMs(Math.max(end, now)) : end }, episode, []);
    const runs = rows.get(episode.source) ?? [];
    const last = runs.at(-1);
    if (last !== undefined && run.window.start < last.window.end) {
      const window = { start: last.window.start, end: toEpochMs(Math.max(last.window.end, run.window.end)) };
      runs[runs.length - 1] = toRun(window, episode, last.episodes);
    } else {
      runs.push(run);
    }
    rows.set(episode.source, runs);
  }
  const severity = ({ runs }: EpisodeRow): number => Math.max(...runs.map(({ colour }) => COLOURS.indexOf(colour)));
  return [...rows]
    .map(([source, runs]) => ({ source, title: runs[0]?.worst.title ?? source, runs }))
    .sort((a, b) => severity(b) - severity(a) || a.title.localeCompare(b.title));
}

function toRun(window: Window, first: EpisodeInfo, others: readonly EpisodeInfo[]): EpisodeRun {
  const worst = others.reduce((one, other) => (severityOf(other) > severityOf(one) ? other : one), first);
  const rest = [first, ...others].filter((episode) => episode !== worst);
  return { window, colour: toColour(worst.colour) ?? "amber", worst, episodes: [worst, ...rest] };
}

function severityOf({ colour }: EpisodeInfo): number {
  const known = toColour(colour);
  return known === null ? -1 : COLOURS.indexOf(known);
}

/** Return whether a row was amber or worse in the window. */
export function isBadRow({ worst }: Pick<TimelineRow, "worst">): boolean {
  return worst >= COLOURS.indexOf("amber");
}

/** Return the hosts of a rule, those in the worst state first and those that lack an input last. */
export function worstHostsFirst(hosts: RuleDetail["hosts"]): RuleDetail["hosts"] {
  const rank = ({ colour, lacks }: RuleDetail["hosts"][number]): number => (lacks === null ? colour : -2);
  return [...hosts].sort((a, b) => rank(b) - rank(a) || a.host.localeCompare(b.host, undefined, { numeric: true }));
}

/** Return what a mute covers: `host web1, rule mutex`. */
export function describeMute({ host, tag, source, instance }: Pick<WatchMute, "host" | "tag" | "source" | "instance">): string {
  const parts = [
    ...(host === null ? [] : [`host ${host}`]),
    ...(tag === null ? [] : [`hosts with the tag ${tag}`]),
    ...(source === null ? [] : [`rule ${source}`]),
    ...(instance === null ? [] : [instance]),
  ];
  return parts.length === 0 ? "everything" : parts.join(", ");
}

/** Return whether a mute is planned, counts now, or has ended. */
export function muteState({ start, end }: Pick<WatchMute, "start" | "end">, now: EpochMs): "planned" | "muted" | "ended" {
  if (fromApi(start) > now) {
    return "planned";
  }
  return end === null || fromApi(end) > now ? "muted" : "ended";
}

/** Return a length of time in words, at least a second. */
export function describeSeconds(seconds: number): string {
  return describeDuration(toDurationMs(Math.max(1, Math.round(seconds)) * SECOND));
}

/** Return how long it was from one instant to another. */
export function describeBetween(start: EpochMs, end: EpochMs): string {
  return describeSeconds((end - start) / SECOND);
}

/** Return how many episodes a backtest found on all of its hosts. */
export function countFound(results: readonly Pick<BacktestHost, "n_episodes">[]): number {
  return results.reduce((sum, { n_episodes }) => sum + n_episodes, 0);
}

/** Return whether a backtest had enough samples to speak of episodes a week: a day. */
export function isLongEnough({ seconds, unknown_s }: Pick<BacktestHost, "seconds" | "unknown_s">): boolean {
  return Object.values(seconds).reduce((sum, own) => sum + own, unknown_s) * SECOND >= DAY;
}

/** The size of a strip of states, in its own units. */
export const STRIP = { width: 1000, height: 18 } as const;
// The worse, the higher: not by colour alone.
const HEIGHTS: Readonly<Record<Colour, number>> = { white: 3, blue: 3, green: 3, amber: 10, red: 14, black: 18 };

/** A state as it is drawn. */
export interface Bar {
  readonly segment: Segment & { readonly colour: Colour };
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Return the bars of a strip, at least two units wide; where nothing is known there is none. */
export function toBars(segments: readonly Segment[], window: Window): readonly Bar[] {
  const scale = STRIP.width / (window.end - window.start);
  return segments.flatMap(({ start, end, colour }) => {
    const from = Math.max(start, window.start);
    const to = Math.min(end, window.end);
    if (colour === null || to < from) {
      return [];
    }
    const height = HEIGHTS[colour];
    const x = (from - window.start) * scale;
    return [{ segment: { start, end, colour }, x, y: STRIP.height - height, width: Math.max(2, (to - from) * scale), height }];
  });
}
