/** Baselines as text: windows, rule, progress and health. */

import type { BaselineHealth, BaselineInfo, HostHealth, ProfileInfo, RuleInfo } from "./api";
import { formatCount } from "./number";
import { describeRule } from "./rule";
import { type DurationMs, type EpochMs, fromApi, SECOND, toDurationMs, type Window } from "./time";
import { formatInstant, parseInstant, type Zone } from "./zone";
import { counted } from "./counted";

/** Return the baselines whose name, hosts, note or author contain every word. */
export function filterBaselines(baselines: readonly BaselineInfo[], filter: string): readonly BaselineInfo[] {
  const terms = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return baselines.filter(({ name, hosts, group, note, created_by }) => {
    const text = [name, ...hosts, group ?? "", note, created_by].join(" ").toLowerCase();
    return terms.every((word) => text.includes(word));
  });
}

/** Return the total length of all windows. */
export function totalLength(baseline: Pick<BaselineInfo, "windows">): DurationMs {
  return toDurationMs(baseline.windows.reduce((sum, { start, end }) => sum + fromApi(end) - fromApi(start), 0));
}

/** Return the versions of a baseline for a menu: "the newest", then each version. */
export function versionOptions(newest: number): readonly { readonly value: string; readonly label: string }[] {
  const before = [...Array(newest - 1).keys()].map((index) => newest - 1 - index);
  return [
    { value: "", label: `newest (currently ${String(newest)})` },
    ...before.map((version) => ({ value: String(version), label: `version ${String(version)}` })),
  ];
}

/** Return whether the last window is still being recorded. */
export function isRecording(baseline: Pick<BaselineInfo, "recording_until">, now: EpochMs): boolean {
  return baseline.recording_until !== null && fromApi(baseline.recording_until) > now;
}

/** Return whether the baseline is being recorded or profiled. */
export function isInProgress(baseline: Pick<BaselineInfo, "recording_until" | "profile">, now: EpochMs): boolean {
  return isRecording(baseline, now) || baseline.profile?.state === "queued" || baseline.profile?.state === "running";
}

/** Return the time of day at which a rule begins: `09:00` for `2026-11-02T09:00:00`. */
export function ruleClock(rule: Pick<RuleInfo, "start">): string {
  return rule.start.replace(/^.*T/, "").slice(0, 5);
}

/** Return a baseline's rule as text. */
export function describeBaselineRule(rule: RuleInfo, zone: Zone): string {
  return describeRule({
    rrule: rule.rrule,
    clock: ruleClock(rule),
    duration_s: rule.duration_s,
    keep_days: rule.keep_days,
    zone,
  });
}

/** Return the progress of a baseline's profiles as text; "" when they are done. */
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

const HEALTH_ORDER = ["good", "stale", "insufficient_data", "empty"] as const;
export type HealthState = HostHealth["state"];

export const HEALTH_WORDS: Readonly<Record<HealthState, { readonly sign: string; readonly label: string }>> = {
  good: { sign: "✓", label: "good" },
  stale: { sign: "…", label: "old" },
  insufficient_data: { sign: "!", label: "not enough data" },
  empty: { sign: "∅", label: "empty" },
};

/** Return the worst health among the hosts; null without hosts. */
export function worstHealth(health: Pick<BaselineHealth, "hosts">): HealthState | null {
  return [...HEALTH_ORDER].reverse().find((state) => health.hosts.some((host) => host.state === state)) ?? null;
}

/** `sda, sdb and 12 more` */
export function abbreviateNames(names: readonly string[], count: number, most = 6): string {
  const shown = names.slice(0, most);
  return count > shown.length ? `${shown.join(", ")} and ${formatCount(count - shown.length)} more` : shown.join(", ");
}

/** Return windows as editable lines: `2026-11-21 09:05:00 to 2026-11-21 09:20:00`. */
export function formatWindows(windows: BaselineInfo["windows"], zone: Zone): string {
  return windows
    .map(({ start, end }) => `${formatInstant(zone, fromApi(start))} to ${formatInstant(zone, fromApi(end))}`)
    .join("\n");
}

/** Parse the lines of formatWindows; return an error message if a line is not a window. */
export function parseWindows(text: string, zone: Zone, now: EpochMs): readonly Window[] | string {
  const windows: Window[] = [];
  for (const line of text.split("\n").filter((each) => each.trim() !== "")) {
    const [from = "", to = "", ...more] = line.split(/\s+(?:to|–)\s+/);
    const start = parseInstant(from, zone, now);
    const end = parseInstant(to, zone, now);
    if (start === null || end === null || more.length > 0 || end <= start) {
      return `“${line.trim()}” is not a window; write 2026-11-21 09:05:00 to 2026-11-21 09:20:00`;
    }
    windows.push({ start, end });
  }
  return windows.length === 0 ? "Enter at least one window, one per line" : windows;
}

/** Return the number of excluded periods as text; "" for none. */
export function describeExcluded(baseline: Pick<BaselineInfo, "excluded">): string {
  return baseline.excluded.length === 0 ? "" : counted(baseline.excluded.length, "excluded period");
}

/** Return whether two lists hold the same names, in any order. */
export function isSameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name) => b.includes(name));
}

export function profilePercent({ n_done, n_total }: Pick<ProfileInfo, "n_done" | "n_total">): number {
  return n_total <= 0 ? 0 : Math.min(100, (100 * n_done) / n_total);
}

/** Return the remaining recording time, rounded up to seconds. */
export function recordingLeft(baseline: Pick<BaselineInfo, "recording_until">, now: EpochMs): DurationMs | null {
  return baseline.recording_until === null || !isRecording(baseline, now)
    ? null
    : toDurationMs(Math.ceil((fromApi(baseline.recording_until) - now) / SECOND) * SECOND);
}
