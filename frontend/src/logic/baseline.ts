/** What lists say about baselines: what they are made of, how far and how well they are. */

import type { BaselineHealth, BaselineInfo, HostHealth, ProfileInfo, RuleInfo } from "./api";
import { formatCount, plural } from "./number";
import { describeRule } from "./rule";
import { type DurationMs, type EpochMs, fromApi, SECOND, toDurationMs, type Window } from "./time";
import { formatInstant, parseInstant, type Zone } from "./zone";

/** Baselines in whose name, hosts, note or author every word occurs. */
export function filterBaselines(baselines: readonly BaselineInfo[], filter: string): readonly BaselineInfo[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return baselines.filter(({ name, hosts, group, note, created_by }) => {
    const text = [name, ...hosts, group ?? "", note, created_by].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** All windows together. */
export function totalLength(baseline: Pick<BaselineInfo, "windows">): DurationMs {
  return toDurationMs(baseline.windows.reduce((sum, { start, end }) => sum + fromApi(end) - fromApi(start), 0));
}

/** The versions of a baseline for a menu: the newest, whichever that will be, and each one that was. */
export function versionOptions(newest: number): readonly { readonly value: string; readonly label: string }[] {
  const before = [...Array(newest - 1).keys()].map((index) => newest - 1 - index);
  return [
    { value: "", label: `the newest (${String(newest)} now)` },
    ...before.map((version) => ({ value: String(version), label: `version ${String(version)}` })),
  ];
}

/** Whether its last window is still being recorded. */
export function isRecording(baseline: Pick<BaselineInfo, "recording_until">, now: EpochMs): boolean {
  return baseline.recording_until !== null && fromApi(baseline.recording_until) > now;
}

/** Whether something about it changes by itself just now. */
export function isInProgress(baseline: Pick<BaselineInfo, "recording_until" | "profile">, now: EpochMs): boolean {
  return isRecording(baseline, now) || baseline.profile?.state === "queued" || baseline.profile?.state === "running";
}

/** The clock at which a rule begins: `09:00` of `2026-11-02T09:00:00`. */
export function ruleClock(rule: Pick<RuleInfo, "start">): string {
  return rule.start.replace(/^.*T/, "").slice(0, 5);
}

/** A baseline's rule in words. */
export function describeBaselineRule(rule: RuleInfo, zone: Zone): string {
  return describeRule({
    rrule: rule.rrule,
    clock: ruleClock(rule),
    duration_s: rule.duration_s,
    keep_days: rule.keep_days,
    zone,
  });
}

/** How far the profiles are, in words; "" when they are done. */
export function describeProfile(profile: BaselineInfo["profile"]): string {
  switch (profile?.state) {
    case undefined:
      return "";
    case "done":
      return "";
    case "queued":
      return "profile: queued";
    case "running":
      return `profile: ${formatCount(profile.n_done)} of ${formatCount(profile.n_total)}`;
    case "failed":
      return `profile failed: ${profile.message}`;
    case "stopped":
      return `profile ${profile.message || "stopped"}`;
  }
}

const HEALTH_ORDER = ["good", "stale", "thin", "empty"] as const;
export type HealthState = HostHealth["state"];

export const HEALTH_WORDS: Readonly<Record<HealthState, { readonly sign: string; readonly label: string }>> = {
  good: { sign: "✓", label: "good" },
  stale: { sign: "…", label: "old" },
  thin: { sign: "!", label: "thin" },
  empty: { sign: "∅", label: "empty" },
};

/** The worst of its hosts. Missing: null without hosts. */
export function worstHealth(health: Pick<BaselineHealth, "hosts">): HealthState | null {
  return [...HEALTH_ORDER].reverse().find((state) => health.hosts.some((host) => host.state === state)) ?? null;
}

/** `sda, sdb and 12 more` */
export function someNames(names: readonly string[], count: number, most = 6): string {
  const shown = names.slice(0, most);
  return count > shown.length ? `${shown.join(", ")} and ${formatCount(count - shown.length)} more` : shown.join(", ");
}

/** Windows as lines that people can change: `2026-11-21 09:05:00 to 2026-11-21 09:20:00`. */
export function formatWindows(windows: BaselineInfo["windows"], zone: Zone): string {
  return windows
    .map(({ start, end }) => `${formatInstant(zone, fromApi(start))} to ${formatInstant(zone, fromApi(end))}`)
    .join("\n");
}

/** What formatWindows wrote and people changed; a text that says which line is none otherwise. */
export function parseWindows(text: string, zone: Zone, now: EpochMs): readonly Window[] | string {
  const windows: Window[] = [];
  for (const line of text.split("\n").filter((each) => each.trim() !== "")) {
    const [from = "", to = "", ...more] = line.split(/\s+(?:to|–)\s+/);
    const start = parseInstant(from, zone, now);
    const end = parseInstant(to, zone, now);
    if (start === null || end === null || more.length > 0 || end <= start) {
      return `“${line.trim()}” is no window: write 2026-11-21 09:05:00 to 2026-11-21 09:20:00`;
    }
    windows.push({ start, end });
  }
  return windows.length === 0 ? "Write at least one window, one a line" : windows;
}

/** How many windows are left out because something happened in them, in words; "" for none. */
export function describeExcluded(baseline: Pick<BaselineInfo, "excluded">): string {
  return baseline.excluded.length === 0 ? "" : `${plural(baseline.excluded.length, "window")} left out as incidents`;
}

/** Whether two lists hold the same names, in whichever order. */
export function isSameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name) => b.includes(name));
}

export function profilePercent({ n_done, n_total }: Pick<ProfileInfo, "n_done" | "n_total">): number {
  return n_total <= 0 ? 0 : Math.min(100, (100 * n_done) / n_total);
}

/** How long it is still recorded, in whole seconds upwards. */
export function recordingLeft(baseline: Pick<BaselineInfo, "recording_until">, now: EpochMs): DurationMs | null {
  return baseline.recording_until === null || !isRecording(baseline, now)
    ? null
    : toDurationMs(Math.ceil((fromApi(baseline.recording_until) - now) / SECOND) * SECOND);
}
