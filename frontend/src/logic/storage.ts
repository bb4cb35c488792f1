/** What takes the disk, when it will be full, and in plain words what a rule of retention deletes. */

import type { Retention, RetentionRule, RetentionRulePut, RetentionRun, StorageInfo } from "./api";
import { formatBytes, formatCount, plural } from "./number";
import { DAY, type EpochMs, toEpochMs } from "./time";

/** Days until the disk is full below which the page warns, and below which it is clear about it. */
export const WARN_DAYS = 30;
export const URGENT_DAYS = 7;

export interface Forecast {
  readonly level: "unknown" | "calm" | "warn" | "urgent";
  readonly text: string;
  /** What to do or why it is not known; empty where nothing is to be said. */
  readonly note: string;
}

/** `less than a day`, `12 days`, `5 months`, `3 years`: as exact as a forecast can be. */
export function describeDays(days: number): string {
  if (days < 1) {
    return "less than a day";
  }
  if (days < 60) {
    return plural(Math.floor(days), "day");
  }
  if (days < 730) {
    return `${formatCount(Math.floor(days / 30.44))} months`;
  }
  return days < 20 * 365.25 ? `${formatCount(Math.floor(days / 365.25))} years` : "more than 20 years";
}

/** When the disk will be full, and how bad that is. */
export function forecastOf({ disk, growth_bytes_per_day, days_until_full }: StorageInfo): Forecast {
  if (days_until_full !== null) {
    const text = describeDays(days_until_full);
    const advice =
      "Make room, add disk, or set rules below that delete old samples; agents keep their data while the disk is full.";
    const level = days_until_full < URGENT_DAYS ? "urgent" : days_until_full < WARN_DAYS ? "warn" : "calm";
    return { level, text, note: level === "calm" ? "" : level === "warn" ? advice : `The disk is nearly full. ${advice}` };
  }
  if (disk.free_bytes === null) {
    return { level: "unknown", text: "not known", note: "The database's disk is not on the server's machine." };
  }
  return growth_bytes_per_day === null
    ? { level: "unknown", text: "not known yet", note: "Growth is known once there are measurements of two days." }
    : { level: "calm", text: "never, as it is", note: "The database did not grow in the last week." };
}

/** `+1.2 GB`, `−3 MB`, `0 B`: bytes that came or went. */
export function formatGrowth(bytes: number | null): string {
  if (bytes === null) {
    return "–";
  }
  const size = formatBytes(Math.round(Math.abs(bytes)));
  return size === "0 B" ? size : `${bytes < 0 ? "−" : "+"}${size}`;
}

export interface DiskSlice {
  readonly key: string;
  readonly label: string;
  readonly bytes: number;
  /** Of the whole bar, 0 to 1. */
  readonly share: number;
}

const PART_WORDS: Readonly<Record<string, string>> = {
  samples: "samples",
  chunks: "raw bytes",
  rollups: "rollups",
  other: "other tables",
};

/** The disk from left to right: the database's parts, what others have on it, what is free. Without a known disk the database alone. */
export function slicesOf({ parts, disk, database_bytes }: StorageInfo): readonly DiskSlice[] {
  const slices = parts.map(({ part, bytes }) => ({ key: part, label: PART_WORDS[part] ?? part, bytes }));
  if (disk.free_bytes !== null && disk.total_bytes !== null) {
    const others = Math.max(0, disk.total_bytes - disk.free_bytes - database_bytes);
    slices.push(
      { key: "elsewhere", label: "not normstat's", bytes: others },
      { key: "free", label: "free", bytes: disk.free_bytes },
    );
  }
  const whole = slices.reduce((sum, { bytes }) => sum + bytes, 0);
  return slices.map((slice) => ({ ...slice, share: whole > 0 ? slice.bytes / whole : 0 }));
}

export interface Sized {
  readonly name: string;
  readonly bytes: number;
  /** Of the largest, 0 to 1: the length of a bar. */
  readonly share: number;
}

/** What takes most first; of the same size, by name. */
export function bySize<T>(
  items: readonly T[],
  sizeOf: (item: T) => Omit<Sized, "share">,
): readonly (Sized & { readonly item: T })[] {
  const sized = items.map((item) => ({ item, ...sizeOf(item) }));
  const largest = Math.max(1, ...sized.map(({ bytes }) => bytes));
  return sized
    .map((each) => ({ ...each, share: each.bytes / largest }))
    .sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
}

/** `1.42`: bytes that a value takes; an en dash where there are no values. */
export function formatBytesPerValue(bytes: number | null): string {
  return bytes === null ? "–" : bytes.toFixed(bytes < 10 ? 2 : 1);
}

// --- retention ---

/** A rule in the form; "" = for ever. `id` tells rows apart while their stat changes. */
export interface RuleDraft {
  readonly id: number;
  readonly stat: string | null;
  readonly samples: string;
  readonly chunks: string;
}

export function draftsOf(rules: readonly RetentionRule[]): readonly RuleDraft[] {
  const drafts = rules.map((rule, index) => ({
    id: index + 1,
    stat: rule.stat,
    samples: rule.samples_days === null ? "" : String(rule.samples_days),
    chunks: rule.chunks_days === null ? "" : String(rule.chunks_days),
  }));
  return drafts.some(({ stat }) => stat === null) ? drafts : [{ id: 0, stat: null, samples: "", chunks: "" }, ...drafts];
}

const MAX_DAYS = 100_000;

/** Why a text is no number of days. Missing: null when it is one, or empty (for ever). */
export function daysProblem(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed === "") {
    return null;
  }
  return /^\d{1,6}$/.test(trimmed) && Number(trimmed) >= 1 && Number(trimmed) <= MAX_DAYS
    ? null
    : `whole days, 1 to ${formatCount(MAX_DAYS)}, or nothing for ever`;
}

/** The drafts as the API takes them; a rule for all others that keeps everything is no rule. Missing: null when one cannot be read. */
export function rulesOf(drafts: readonly RuleDraft[]): readonly RetentionRulePut[] | null {
  if (drafts.some(({ samples, chunks }) => daysProblem(samples) !== null || daysProblem(chunks) !== null)) {
    return null;
  }
  const days = (text: string): number | null => (text.trim() === "" ? null : Number(text));
  return drafts
    .map(({ stat, samples, chunks }) => ({ stat, samples_days: days(samples), chunks_days: days(chunks) }))
    .filter(({ stat, samples_days, chunks_days }) => stat !== null || samples_days !== null || chunks_days !== null);
}

type Rules = readonly RetentionRulePut[];

function ruleFor(rules: Rules, stat: string | null): RetentionRulePut {
  const everything = { stat, samples_days: null, chunks_days: null };
  return rules.find((rule) => rule.stat === stat) ?? rules.find((rule) => rule.stat === null) ?? everything;
}

/** Whether two sets of rules say the same, in whichever order. */
export function isSameRules(a: Rules, b: Rules): boolean {
  const text = (rules: Rules): string =>
    rules
      .map(({ stat, samples_days, chunks_days }) => JSON.stringify([stat, samples_days, chunks_days]))
      .sort()
      .join();
  return text(a) === text(b);
}

/** What is older than this goes: the day's beginning in UTC, so many days ago. */
export function cutOff(days: number, now: EpochMs): EpochMs {
  return toEpochMs(Math.floor(now / DAY) * DAY - days * DAY);
}

export interface Consequence {
  readonly key: string;
  readonly what: "samples" | "raw bytes";
  readonly stat: string | null;
  /** Everything before it goes. */
  readonly before: EpochMs;
  /** Until now more was kept: days, or for ever (null). */
  readonly keptUntilNow_days: number | null;
}

/** What new rules delete that the old ones kept; empty where they keep at least as much. */
export function consequencesOf(old: Rules, next: Rules, now: EpochMs): readonly Consequence[] {
  const stats = [...new Set([null, ...next.map(({ stat }) => stat), ...old.map(({ stat }) => stat)])];
  return stats.flatMap((stat) =>
    (["samples", "raw bytes"] as const).flatMap((what) => {
      const daysOf = (rules: Rules): number | null => ruleFor(rules, stat)[what === "samples" ? "samples_days" : "chunks_days"];
      const [before, after] = [daysOf(old), daysOf(next)];
      return after === null || (before !== null && before <= after)
        ? []
        : [{ key: `${what} ${stat ?? ""}`, what, stat, before: cutOff(after, now), keptUntilNow_days: before }];
    }),
  );
}

/** `30 days`, `for ever` */
export function describeKept(days: number | null): string {
  return days === null ? "for ever" : plural(days, "day");
}

/** What a run of the rules removed, or is about to. */
export function describeRun(run: RetentionRun): string {
  const removed = [
    ...(run.n_samples > 0 ? [plural(run.n_samples, "sample")] : []),
    ...(run.n_chunk_bytes > 0 ? [`${formatBytes(run.n_chunk_bytes)} of raw bytes`] : []),
  ].join(" and ");
  switch (run.state) {
    case "queued":
      return "queued";
    case "running":
      return removed === "" ? "looking for what is old enough" : `removed ${removed} so far`;
    case "done":
      return removed === "" ? "nothing was old enough" : `removed ${removed}`;
    case "failed":
    case "stopped":
      return `${run.message === "" ? run.state : run.message}${removed === "" ? "" : `; removed ${removed}`}`;
  }
}

/** Whether something is being removed just now, so that one looks again soon. */
export function isAnyRunning(retention: Pick<Retention, "runs"> | undefined): boolean {
  return retention?.runs.some(({ state }) => state === "queued" || state === "running") === true;
}
