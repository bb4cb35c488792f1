/** Disk usage, the forecast of when the disk is full, and the effects of retention rules as text. */

import type { Retention, RetentionRule, RetentionRulePut, RetentionRun, StorageInfo } from "./api";
import { formatBytes, formatCount, formatWithUnit } from "./number";
import { DAY, type EpochMs, toEpochMs } from "./time";
import { counted } from "./counted";

/** The page shows a warning below WARN_DAYS until the disk is full, an error below URGENT_DAYS. */
export const WARN_DAYS = 30;
export const URGENT_DAYS = 7;
/** A disk that is full earlier is full before the first samples are sealed. */
const DAYS_TO_SEAL = 4;

export interface Forecast {
  readonly level: "unknown" | "calm" | "warn" | "urgent";
  readonly text: string;
  /** What to do, or why the forecast is unknown; may be empty. */
  readonly note: string;
}

/** Return days as text, no more exact than a forecast: `less than a day`, `12 days`, `5 months`, `3 years`. */
export function describeDays(days: number): string {
  if (days < 1) {
    return "less than a day";
  }
  if (days < 60) {
    return counted(Math.floor(days), "day");
  }
  if (days < 730) {
    return `${formatCount(Math.floor(days / 30.44))} months`;
  }
  return days < 20 * 365.25 ? `${formatCount(Math.floor(days / 365.25))} years` : "more than 20 years";
}

/** Return when the disk will be full, and how urgent that is. */
export function forecastOf({ disk, growth_bytes_per_day, days_until_full, is_before_sealing }: StorageInfo): Forecast {
  if (days_until_full !== null) {
    const text = describeDays(days_until_full);
    if (is_before_sealing && days_until_full >= DAYS_TO_SEAL) {
      return {
        level: "calm",
        text,
        note: "Samples of the last days are stored as rows. Packed, a day later, they take a fraction of that, so the disk lasts longer.",
      };
    }
    const advice = "Free space, add disk, or set retention rules below. Agents keep their data while the disk is full.";
    const level = days_until_full < URGENT_DAYS ? "urgent" : days_until_full < WARN_DAYS ? "warn" : "calm";
    return { level, text, note: level === "calm" ? "" : level === "warn" ? advice : `The disk is nearly full. ${advice}` };
  }
  if (disk.free_bytes === null) {
    return { level: "unknown", text: "unknown", note: "The database runs on another machine." };
  }
  return growth_bytes_per_day === null
    ? {
        level: "unknown",
        text: "unknown yet",
        note: "The growth rate is known an hour after the first measurement and reliable after a week.",
      }
    : { level: "calm", text: "never at this rate", note: "The database has not grown in the last week." };
}

export interface StandbyFact {
  readonly level: "calm" | "warn";
  readonly text: string;
  readonly note: string;
}

/** Return how far the standby is behind, or why it is not used; null where none is configured. */
export function describeStandby({ standby }: StorageInfo): StandbyFact | null {
  if (standby === null) {
    return null;
  }
  const { state, lag_s, message } = standby;
  if (state === "used" && lag_s !== null) {
    const lag = formatWithUnit(lag_s, lag_s < 10 ? 1 : 0, "s");
    return { level: "calm", text: `${lag} behind`, note: "graphs, comparisons and exports are read from it" };
  }
  const why = `${message}. The primary serves all reads.`;
  return { level: state === "unknown" ? "calm" : "warn", text: "not used", note: why };
}

/** Return growth as text: `+1.2 GB`, `−3 MB`, `0 B`. */
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
  /** The share of the whole bar, 0 to 1. */
  readonly share: number;
}

const PART_WORDS: Readonly<Record<string, string>> = {
  samples: "samples",
  sealed: "sealed samples",
  chunks: "raw bytes",
  artefacts: "artefacts",
  rollups: "rollups",
  profiles: "profiles of baselines",
  other: "other tables",
};

/**
 * Return the slices of the disk: the parts of the database, other files, free space; only the database if the
 * disk is unknown.
 */
export function slicesOf({ parts, disk, database_bytes }: StorageInfo): readonly DiskSlice[] {
  const slices = parts.map(({ part, bytes }) => ({ key: part, label: PART_WORDS[part] ?? part, bytes }));
  if (disk.free_bytes !== null && disk.total_bytes !== null) {
    const others = Math.max(0, disk.total_bytes - disk.free_bytes - database_bytes);
    slices.push(
      { key: "elsewhere", label: "other files", bytes: others },
      { key: "free", label: "free", bytes: disk.free_bytes },
    );
  }
  const whole = slices.reduce((sum, { bytes }) => sum + bytes, 0);
  return slices.map((slice) => ({ ...slice, share: whole > 0 ? slice.bytes / whole : 0 }));
}

/** Return how much of the raw bytes is packed, in words; empty without raw bytes. */
export function describePacking({ raw }: Pick<StorageInfo, "raw">): string {
  if (raw.n_bytes === 0) {
    return "";
  }
  if (raw.n_packed_bytes === 0) {
    return `Raw bytes: ${formatBytes(raw.n_bytes)} received; they take ${formatBytes(raw.chunk_table_bytes)} until they are packed, a day after they arrived.`;
  }
  return `Raw bytes: ${formatBytes(raw.n_bytes)} received. ${formatBytes(raw.n_packed_bytes)} of them are packed into ${formatBytes(raw.packed_table_bytes)}; those of the last days take ${formatBytes(raw.chunk_table_bytes)}.`;
}

export interface Sized {
  readonly name: string;
  readonly bytes: number;
  /** The share of the largest, 0 to 1: the length of the bar. */
  readonly share: number;
}

/** Return the entries, largest first, then by name. */
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

/** With fewer values, most of a table is what an empty one takes. */
const ENOUGH_VALUES = 100_000;

/** Return the bytes per value as text, such as `1.42`; an en dash where values are too few to tell. */
export function formatBytesPerValue(bytes: number | null, nValues: number): string {
  return bytes === null || nValues < ENOUGH_VALUES ? "–" : bytes.toFixed(bytes < 10 ? 2 : 1);
}

// --- retention ---

/** A rule in the form; "" = forever. `id` identifies the row while its stat changes. */
export interface RuleDraft {
  readonly id: number;
  readonly stat: string | null;
  readonly samples: string;
  readonly chunks: string;
}

export function draftsOf(rules: readonly RetentionRule[]): RuleDraft[] {
  const drafts = rules.map((rule, index) => ({
    id: index + 1,
    stat: rule.stat,
    samples: rule.samples_days === null ? "" : String(rule.samples_days),
    chunks: rule.chunks_days === null ? "" : String(rule.chunks_days),
  }));
  return drafts.some(({ stat }) => stat === null) ? drafts : [{ id: 0, stat: null, samples: "", chunks: "" }, ...drafts];
}

/** The results of watching, which have rules of their own; the rule for all other stats is none of theirs. */
export const RESULT_NAMES = ["@scores", "@states", "@episodes", "@backtests"] as const;

export function isResult(stat: string | null): boolean {
  return stat?.startsWith("@") ?? false;
}

const MAX_DAYS = 100_000;

/** Return why a text is not a valid number of days; null if it is valid or empty (forever). */
export function daysProblem(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed === "") {
    return null;
  }
  return /^\d{1,6}$/.test(trimmed) && Number(trimmed) >= 1 && Number(trimmed) <= MAX_DAYS
    ? null
    : `Enter whole days, 1 to ${formatCount(MAX_DAYS)}, or leave empty for forever`;
}

/** Return the drafts as the API takes them, without a catch-all rule that keeps everything; null if a draft is invalid. */
export function rulesOf(drafts: readonly RuleDraft[]): RetentionRulePut[] | null {
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
  const own = rules.find((rule) => rule.stat === stat);
  return own ?? (isResult(stat) ? undefined : rules.find((rule) => rule.stat === null)) ?? everything;
}

/** Return whether two sets of rules are equal, in any order. */
export function isSameRules(a: Rules, b: Rules): boolean {
  const text = (rules: Rules): string =>
    rules
      .map(({ stat, samples_days, chunks_days }) => JSON.stringify([stat, samples_days, chunks_days]))
      .sort()
      .join();
  return text(a) === text(b);
}

/** Return the instant before which data is deleted: the start of the UTC day that many days ago. */
export function cutOff(days: number, now: EpochMs): EpochMs {
  return toEpochMs(Math.floor(now / DAY) * DAY - days * DAY);
}

export interface Consequence {
  readonly key: string;
  readonly what: "samples" | "raw_bytes";
  readonly stat: string | null;
  /** Everything before it is deleted. */
  readonly before: EpochMs;
  /** How long the data was kept before: days, or forever (null). */
  readonly keptUntilNow_days: number | null;
}

/** What each consequence deletes, by its name. */
export const DELETED_LABELS: Readonly<Record<Consequence["what"], string>> = { samples: "samples", raw_bytes: "raw bytes" };

/** Return what new rules delete that the old ones keep. */
export function consequencesOf(old: Rules, next: Rules, now: EpochMs): readonly Consequence[] {
  const stats = [...new Set([null, ...next.map(({ stat }) => stat), ...old.map(({ stat }) => stat)])];
  return stats.flatMap((stat) =>
    (["samples", "raw_bytes"] as const).flatMap((what) => {
      const daysOf = (rules: Rules): number | null => ruleFor(rules, stat)[what === "samples" ? "samples_days" : "chunks_days"];
      const [before, after] = [daysOf(old), daysOf(next)];
      return after === null || (before !== null && before <= after)
        ? []
        : [{ key: `${what} ${stat ?? ""}`, what, stat, before: cutOff(after, now), keptUntilNow_days: before }];
    }),
  );
}

/** Return a retention period as text: `30 days`, `forever`. */
export function describeKept(days: number | null): string {
  return days === null ? "forever" : counted(days, "day");
}

/** Return what a retention run removed or is removing, as text. */
export function describeRun(run: RetentionRun): string {
  const removed = [
    ...(run.n_samples > 0 ? [counted(run.n_samples, "sample")] : []),
    ...(run.n_chunk_bytes > 0 ? [`${formatBytes(run.n_chunk_bytes)} of raw bytes`] : []),
    ...(run.n_results > 0 ? [`${counted(run.n_results, "result")} of watching`] : []),
  ].join(" and ");
  switch (run.state) {
    case "queued":
      return "queued";
    case "running":
      return removed === "" ? "searching for old data" : `deleted ${removed} so far`;
    case "done":
      return removed === "" ? "no old data found" : `deleted ${removed}`;
    case "failed":
    case "stopped":
      return `${run.message === "" ? run.state : run.message}${removed === "" ? "" : `; deleted ${removed}`}`;
  }
}

/** Return whether a run or deletion is in progress, so that the page polls. */
export function isAnyRunning(retention: Pick<Retention, "runs"> | undefined): boolean {
  return retention?.runs.some(({ state }) => state === "queued" || state === "running") === true;
}
