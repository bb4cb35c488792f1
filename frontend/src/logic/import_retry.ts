/** Files of imports that lack something, and how they are tried again with it. */

import type { Import, ImportedFile, MissingOption, RetryRequest } from "./api";
import { NO_OPTIONS, type OptionProblems, optionProblems } from "./imports";
import { type EpochMs, fromApi, SECOND, toEpochMs, toIso } from "./time";

/** What was typed to try files again. `usesFileTimes`: what a file lacks of its times follows from its last change. */
export interface RetryValues {
  readonly start: string;
  readonly interval_s: string;
  readonly zone: string;
  readonly date: string;
  readonly spec: string;
  readonly title: string;
  readonly usesFileTimes: boolean;
}

export const NO_VALUES: RetryValues = {
  ...{ start: "", interval_s: "", zone: "", date: "", spec: "", title: "" },
  usesFileTimes: false,
};

/** A file that lacks something, and its import. */
export interface LackingFile {
  readonly item: Import;
  readonly file: ImportedFile;
}

/** Return the files that can be tried again with what they lack. */
export function lackingFiles(items: readonly Import[]): readonly LackingFile[] {
  return items
    .filter((item) => item.can_retry && !item.is_undo)
    .flatMap((item) => item.files.filter(({ missing }) => missing.length > 0).map((file) => ({ item, file })));
}

/** Return whether a file lacks nothing but times, which several files may have in common. */
export function lacksTimes({ missing }: Pick<ImportedFile, "missing">): boolean {
  return missing.every((option) => option !== "spec" && option !== "first_is_real");
}

/** Return what at least one of the files lacks. */
export function missingOf(files: readonly LackingFile[]): readonly MissingOption[] {
  return [...new Set(files.flatMap(({ file }) => file.missing))];
}

const OPTION_WORDS: Readonly<Record<MissingOption, string>> = {
  start: "start time",
  interval_s: "interval",
  zone: "time zone",
  date: "date",
  spec: "tool",
  first_is_real: "samples: it has only averages since boot",
};

/** Say what files lack: `start time and interval`. Missing: "" if nothing. */
export function describeMissing(missing: readonly MissingOption[]): string {
  return missing.map((option) => OPTION_WORDS[option]).join(missing.length === 2 ? " and " : ", ");
}

/** Return when the file was last changed, where its times follow from that. Missing: null for other files. */
export function fileTime({ modified_at, date_of_change, span_s }: ImportedFile): EpochMs | null {
  const isKnown = typeof date_of_change === "string" || typeof span_s === "number";
  return typeof modified_at === "string" && isKnown ? fromApi(modified_at) : null;
}

/** The specs of tracers: their output does not say what was asked, so that a title may. */
const TRACERS: ReadonlySet<string> = new Set(["bcc", "bpftrace", "dtrace", "perf_tools", "systemtap"]);

/** Return whether a title may help to read a file with this spec. */
export function takesTitle(spec: string | null): boolean {
  return spec !== null && TRACERS.has(spec);
}

/** Return what is wrong with the values for these files; empty if they can be sent. `startAt` is the parsed start. */
export function retryProblems(files: readonly LackingFile[], values: RetryValues, startAt: EpochMs | null): OptionProblems {
  const { usesFileTimes, interval_s, ...texts } = values;
  const found = optionProblems({ ...NO_OPTIONS, ...texts, interval: interval_s, host: "x" }, startAt);
  const problems: Partial<Record<MissingOption, string>> = {};
  for (const option of ["start", "interval_s", "zone", "date", "spec"] as const) {
    const isOfTime = option === "start" || option === "date";
    const lacking = files.filter(({ file }) => file.missing.includes(option));
    const isGiven = isOfTime && usesFileTimes && lacking.every(({ file }) => fileTime(file) !== null);
    const problem = found[option === "interval_s" ? "interval" : option];
    if (lacking.length > 0 && !isGiven) {
      const wrong = values[option].trim() === "" ? "needed" : problem;
      if (wrong !== undefined) {
        problems[option] = wrong;
      }
    }
  }
  return problems;
}

/** Return the request that tries a file again. The values have no problems; `startAt` is the parsed start. */
export function retryRequest(file: ImportedFile, values: RetryValues, startAt: EpochMs | null): RetryRequest {
  const wants = (option: MissingOption): boolean => file.missing.includes(option);
  const changedAt = values.usesFileTimes ? fileTime(file) : null;
  const interval_s = wants("interval_s") ? Number(values.interval_s) : null;
  const began = changedAt === null ? startAt : toEpochMs(changedAt - (file.span_s ?? 0) * (interval_s ?? 1) * SECOND);
  const date = changedAt === null ? values.date.trim() : (file.date_of_change ?? "");
  const hasTitle = takesTitle(wants("spec") ? values.spec : file.spec) && values.title.trim() !== "";
  return {
    position: file.position,
    zone: wants("zone") ? values.zone.trim() : null,
    date: wants("date") ? date : null,
    start: wants("start") && began !== null ? toIso(began) : null,
    interval_s,
    spec: wants("spec") ? values.spec : null,
    title: hasTitle ? values.title.trim() : null,
    first_is_real: wants("first_is_real") ? true : null,
  };
}
