/** Imports of files and their results, in words. */

import type { Import, ImportedFile, ImportPlace, ImportUpdate, MissingOption, ReasonTotal } from "./api";
import type { ArtefactEffect } from "./artefact";
import { isActive } from "./job";
import { formatCount } from "./number";
import { surroundings } from "./range";
import { describeDuration, type EpochMs, fromApi, toDurationMs, toEpochMs, toIso, type Window } from "./time";
import { counted } from "./counted";

/** Options for reading the files, as typed into the form. Empty: detected from the files. */
export interface ImportOptions {
  readonly host: string;
  readonly zone: string;
  readonly date: string;
  readonly start: string;
  readonly interval: string;
  readonly spec: string;
  readonly title: string;
  readonly question: string;
  readonly command: string;
  readonly effect: ArtefactEffect | null;
  readonly firstIsReal: boolean;
  readonly eachHost: boolean;
}

export const NO_OPTIONS: ImportOptions = {
  ...{ host: "", zone: "", date: "", start: "", interval: "", spec: "", title: "", question: "", command: "" },
  effect: null,
  firstIsReal: false,
  eachHost: false,
};

/** The server's limit of a title. */
export const MAX_TITLE = 120;

export type OptionProblems = Readonly<Partial<Record<keyof ImportOptions | MissingOption, string>>>;

const MAX_INTERVAL_S = 366 * 86_400;
// The server's rule; ingest/batching.py.
const HOST_NAME = /^[A-Za-z0-9_][A-Za-z0-9._:-]{0,199}$/;

function dateProblem(date: string): string | null {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(date) ?? [];
  if (year === undefined || month === undefined || day === undefined) {
    return "use the form 2026-11-21";
  }
  const at = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return at.getUTCMonth() === Number(month) - 1 && at.getUTCDate() === Number(day) ? null : "this day does not exist";
}

/** Return what is wrong with the form; empty if it can be sent. `startAt` is the parsed start. */
export function optionProblems(options: ImportOptions, startAt: number | null): OptionProblems {
  const problems: Partial<Record<keyof ImportOptions, string>> = {};
  const host = options.host.trim();
  if (host === "") {
    problems.host = "enter the host of the files";
  } else if (!HOST_NAME.test(host)) {
    problems.host = "letters, digits and . _ : - only, at most 200";
  }
  const wrongDate = options.date.trim() === "" ? null : dateProblem(options.date.trim());
  if (wrongDate !== null) {
    problems.date = wrongDate;
  }
  if (options.start.trim() !== "" && startAt === null) {
    problems.start = "write 2026-11-21 09:05:00, or ISO 8601 with a zone";
  }
  const interval = options.interval.trim();
  if (interval !== "" && !(/^\d+(\.\d+)?$/.test(interval) && Number(interval) >= 0.001 && Number(interval) <= MAX_INTERVAL_S)) {
    problems.interval = "seconds: a number from 0.001 to a year";
  }
  return problems;
}

/** Return the options as the requests take them; empty ones are left out. `startAt` is the parsed start. */
export function toSettings(options: ImportOptions, startAt: EpochMs | null) {
  const { host, firstIsReal, eachHost, interval, start, effect: _, ...texts } = options;
  const given = Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) => (text.trim() === "" ? [] : [[name, text.trim()]])),
  ) as Partial<Pick<ImportOptions, "zone" | "date" | "spec" | "title" | "question" | "command">>;
  return {
    host: host.trim(),
    ...given,
    ...(startAt === null || start.trim() === "" ? {} : { start: startAt }),
    ...(interval.trim() === "" ? {} : { intervalS: Number(interval) }),
    ...(firstIsReal ? { firstIsReal } : {}),
    ...(eachHost ? { eachHost } : {}),
  };
}

export function isComplete(problems: OptionProblems): boolean {
  return Object.keys(problems).length === 0;
}

/**
 * Return the list with newer answers in place of older ones: running imports are polled one by one, and an
 * import fetched alone has all its files.
 */
export function withNews(imports: readonly Import[], news: readonly (Import | undefined)[]): readonly Import[] {
  const byId = new Map(news.flatMap((item) => (item === undefined ? [] : [[item.id, item] as const])));
  return imports.map((item) => {
    const known = byId.get(item.id);
    // An import that has ended in the list is newer than an answer in which it still ran.
    return known !== undefined && (isActive(item) || !isActive(known)) ? known : item;
  });
}

function isTriedAgain({ note }: Pick<ImportedFile, "note">): boolean {
  return note.startsWith("tried again");
}

/** Return whether all files of an import were tried again, each by an import of its own. */
export function isReplaced({ files }: Pick<Import, "files">): boolean {
  return files.length > 0 && files.every(isTriedAgain);
}

/** Return whether a finished import needs attention: it loaded nothing, or a file of it lacks something. */
export function needsAttention(item: Pick<Import, "state" | "is_undo" | "files">): boolean {
  const isLacking = item.files.some(({ missing }) => missing.length > 0);
  const loadsNothing = item.files.every((file) => file.n_samples === 0 && !hasArtefact(file)) && !item.files.some(isTriedAgain);
  return item.state === "done" && !item.is_undo && (isLacking || loadsNothing);
}

/** Return whether there is anything that an import could undo. */
export function canUndo(item: Pick<Import, "state" | "is_undo" | "files">): boolean {
  return !isActive(item) && !item.is_undo && item.files.some((file) => file.n_samples_new > 0 || hasArtefact(file));
}

/** Return what changes of an import: what stays as it is is null. `startAt`: null where its times stay. */
export function changeOf(
  item: Pick<Import, "label" | "host">,
  wanted: { readonly label: string; readonly host: string; readonly startAt: EpochMs | null },
): ImportUpdate {
  const label = wanted.label.trim();
  const host = wanted.host.trim();
  return {
    label: label === item.label ? null : label,
    host: host === item.host ? null : host,
    shift_s: null,
    start: wanted.startAt === null ? null : toIso(wanted.startAt),
  };
}

/** Describe a shift of times: `1 d later than in the files`. Missing: "" without a shift. */
export function describeShift(shift_s: number): string {
  const length = describeDuration(toDurationMs(Math.round(Math.abs(shift_s) * 1000)));
  return shift_s === 0 ? "" : shift_s > 0 ? `${length} later than in the files` : `${length} earlier than in the files`;
}

/** Describe title, host and shift of an import: `night batch, web1, 1 d later than in the files`. */
export function describePlace({ label, host, shift_s }: ImportPlace, name: string): string {
  return [label === "" ? name : label, host, describeShift(shift_s)].filter((part) => part !== "").join(", ");
}

/** Return whether an artefact was made of the file. */
export function hasArtefact({ artefact }: Pick<ImportedFile, "artefact">): boolean {
  return artefact !== null && artefact !== undefined;
}

/** Sums over the files of an import. */
export interface ImportTotals {
  readonly n_files: number;
  readonly n_read: number;
  readonly n_reports: number;
  readonly n_samples: number;
  readonly n_new: number;
  readonly n_rejected: number;
  readonly window: Window | null;
}

function sum(files: readonly ImportedFile[], of: (file: ImportedFile) => number): number {
  return files.reduce((total, file) => total + of(file), 0);
}

/** Return the window of the files' samples, including the last one. Missing: null without samples. */
export function sampleWindow(files: readonly Pick<ImportedFile, "first_sample_at" | "last_sample_at">[]): Window | null {
  const firsts = files.flatMap(({ first_sample_at }) => (first_sample_at === null ? [] : [fromApi(first_sample_at)]));
  const lasts = files.flatMap(({ last_sample_at }) => (last_sample_at === null ? [] : [fromApi(last_sample_at)]));
  return firsts.length === 0 || lasts.length === 0
    ? null
    : { start: toEpochMs(Math.min(...firsts)), end: toEpochMs(Math.max(...lasts) + 1) };
}

/** Return the window with a margin, for the host's page. */
export function windowToShow(window: Window): Window {
  return surroundings(window, 0.02);
}

export function totalsOf({ files, n_files }: Pick<Import, "files" | "n_files">): ImportTotals {
  return {
    n_files: Math.max(n_files, files.length),
    n_read: files.filter(({ spec }) => spec !== null).length,
    n_reports: sum(files, (file) => file.n_reports),
    n_samples: sum(files, (file) => file.n_samples),
    n_new: sum(files, (file) => file.n_samples_new),
    n_rejected: sum(files, (file) => file.n_rejected),
    window: sampleWindow(files),
  };
}

/** `12,000 samples`, `12,000 samples, 40 of them new`, `12,000 samples, all loaded before`. */
export function describeSamples(n_samples: number, n_new: number): string {
  if (n_samples === 0) {
    return "no samples";
  }
  const all = counted(n_samples, "sample");
  if (n_new === n_samples) {
    return all;
  }
  return n_new === 0 ? `${all}, all loaded before` : `${all}, ${formatCount(n_new)} of them new`;
}

/** Describe the result of an import, or its progress, in a sentence. */
export function describeImport(item: Import): string {
  if (item.is_undo) {
    return isActive(item) ? "removing its samples" : item.message;
  }
  if (item.is_change && isActive(item)) {
    return "moving its samples";
  }
  if (item.state === "failed") {
    return item.message === "" ? "it failed" : item.message;
  }
  const totals = totalsOf(item);
  const n_listed = item.files.length;
  if (totals.n_files === 0) {
    return isActive(item) ? "not started yet" : item.message === "" ? "nothing could be read" : item.message;
  }
  const parts = [describeSamples(totals.n_samples, totals.n_new)];
  if (n_listed > 0 && n_listed < totals.n_files) {
    // The list has only the first files of each import, so the sums do not cover all files.
    parts[0] = `${counted(totals.n_files, "file")}; in the first ${formatCount(n_listed)}: ${parts[0] ?? ""}`;
  } else if (totals.n_files > 1) {
    parts.unshift(
      totals.n_read === totals.n_files
        ? counted(totals.n_files, "file")
        : `${formatCount(totals.n_read)} of ${counted(totals.n_files, "file")} read`,
    );
  } else if (totals.n_samples === 0 && !isActive(item)) {
    const [file] = item.files;
    const why = file === undefined ? "" : reasonOf(file);
    parts.splice(0, 1, why === "" ? (totals.n_read === 0 ? "nothing could be read" : "no samples") : why);
  }
  if (totals.n_rejected > 0) {
    parts.push(counted(totals.n_rejected, "rejected line"));
  }
  if (item.message !== "") {
    parts.push(item.message);
  }
  return parts.join("; ");
}

/** Files that were not read for the same reason. */
export interface UnreadGroup {
  readonly note: string;
  readonly paths: readonly string[];
}

/** Split into files that were read (those with rejected lines first) and unread ones, grouped by note, most frequent first. */
export function partFiles(files: readonly ImportedFile[]): {
  readonly read: readonly ImportedFile[];
  readonly unread: readonly UnreadGroup[];
} {
  const read = files.filter(({ spec }) => spec !== null);
  const byNote = new Map<string, string[]>();
  for (const { spec, note, path } of files) {
    if (spec === null) {
      byNote.set(note, [...(byNote.get(note) ?? []), path]);
    }
  }
  return {
    // Sorting is stable, so equal entries stay in the order of the archive.
    read: [...read].sort((a, b) => Number(b.n_rejected > 0) - Number(a.n_rejected > 0)),
    unread: [...byNote]
      .map(([note, paths]) => ({ note: note === "" ? "nothing could be read" : inPageWords(note), paths }))
      .sort((a, b) => b.paths.length - a.paths.length),
  };
}

const OPTION_LABELS: Readonly<Record<string, string>> = {
  "--tz": "“Time zone”",
  "--date": "“Date”",
  "--start": "“First report at”",
  "--interval": "“Seconds between reports”",
  "--spec": "“Spec”",
  "--host": "“Host”",
  "--zone": "“Time zone”",
  "--first-is-real": "“First report covers an interval”",
  "--each-host": "“Each host under its own name”",
};

/** Replace the command-line options in a note of the server by the labels of the form. */
export function inPageWords(note: string): string {
  return note.replace(/--[a-z]+(?:-[a-z]+)*/g, (option) => OPTION_LABELS[option] ?? option);
}

/** Return whether a file lacked something that the form can provide. */
export function lacksOptions(files: readonly Pick<ImportedFile, "note">[]): boolean {
  return files.some(({ note }) => inPageWords(note) !== note);
}

/** Return why a file was not loaded, without what to type: the fields beside it ask for that. */
export function reasonOf({ note }: Pick<ImportedFile, "note">): string {
  return inPageWords(note.replace(/^not loaded: /, "").replace(/: give --[^;]*|; --spec \S+ loads it/g, ""));
}

/** Sort the most frequent reasons first. */
export function sortReasons(reasons: readonly ReasonTotal[]): readonly ReasonTotal[] {
  return [...reasons].sort((a, b) => b.n - a.n || a.reason.localeCompare(b.reason));
}
