import { describe, expect, it } from "vitest";
import type { Import, ImportedFile } from "./api";
import {
  canUndo,
  describeImport,
  describeSamples,
  type ImportOptions,
  inPageWords,
  isComplete,
  isReplaced,
  lacksOptions,
  needsAttention,
  NO_OPTIONS,
  optionProblems,
  partFiles,
  reasonOf,
  sampleWindow,
  sortReasons,
  totalsOf,
  windowToShow,
  withNews,
} from "./imports";
import { lackingFiles, missingOf, NO_VALUES, retryProblems, retryRequest } from "./import_retry";
import { fromApi } from "./time";

function file(change: Partial<ImportedFile> = {}): ImportedFile {
  return {
    path: "vmstat.out",
    spec: "vmstat_linux",
    stats: ["vmstat_linux"],
    n_reports: 10,
    n_samples: 10,
    n_samples_new: 10,
    n_rejected: 0,
    reasons: [],
    first_sample_at: "2026-11-21T10:00:00Z",
    last_sample_at: "2026-11-21T10:00:09Z",
    note: "",
    n_since_boot: 0,
    missing: [],
    position: 0,
    stream_id: 1,
    is_undone: false,
    shift_s: 0,
    ...change,
  };
}

const UNREAD = file({
  path: "core",
  spec: null,
  stats: [],
  n_reports: 0,
  n_samples: 0,
  n_samples_new: 0,
  first_sample_at: null,
  last_sample_at: null,
  note: "no spec knows this",
});

function item(change: Partial<Import> = {}): Import {
  const files = change.files ?? [file()];
  return {
    job_id: 1,
    id: 1,
    host: "web1",
    name: "archive.tar.gz",
    state: "done",
    message: "",
    n_bytes: 100,
    n_bytes_done: 100,
    created_at: "2026-11-22T10:00:00Z",
    created_by: "admin",
    finished_at: null,
    n_files: files.length,
    can_retry: false,
    is_undo: false,
    is_change: false,
    label: "",
    shift_s: 0,
    earlier: null,
    ...change,
    files,
  };
}

function problems(change: Partial<ImportOptions>, startAt: number | null = null): Record<string, string> {
  return { ...optionProblems({ ...NO_OPTIONS, host: "web1", ...change }, startAt) };
}

describe("the form", () => {
  it("needs only a host", () => {
    expect(isComplete(optionProblems({ ...NO_OPTIONS, host: "web1" }, null))).toBe(true);
    expect(Object.keys(problems({ host: "  " }))).toEqual(["host"]);
    expect(problems({ host: "db2.example.com:1" })).toEqual({});
    for (const host of ["a b", "-x", "ü", "x".repeat(201)]) {
      expect(Object.keys(problems({ host }))).toEqual(["host"]);
    }
  });

  it("accepts only days that exist", () => {
    expect(problems({ date: "2028-02-29" })).toEqual({});
    expect(problems({ date: "2026-02-29" })).toEqual({ date: "this day does not exist" });
    expect(problems({ date: "21.11.2026" })).toEqual({ date: "use the form 2026-11-21" });
  });

  it("accepts a start and an interval", () => {
    expect(problems({ start: "2026-11-21 09:00", interval: "5" }, 1)).toEqual({});
    expect(problems({ start: "2026-11-21 09:00" }, 1)).toEqual({});
    expect(problems({ interval: "0.5" })).toEqual({});
    expect(Object.keys(problems({ start: "early", interval: "5" }))).toEqual(["start"]);
    for (const interval of ["0", "-1", "five", "1e3", "0.0001", "99999999"]) {
      expect(Object.keys(problems({ interval }))).toEqual(["interval"]);
    }
  });
});

describe("an import", () => {
  it("spans the samples of all its files, including the last one", () => {
    const later = file({ first_sample_at: "2026-11-21T12:00:00Z", last_sample_at: "2026-11-21T13:00:00Z" });
    const window = sampleWindow([file(), UNREAD, later]);
    expect(window).toEqual({ start: fromApi("2026-11-21T10:00:00Z"), end: fromApi("2026-11-21T13:00:00.001Z") });
    expect(sampleWindow([UNREAD])).toBeNull();
    const single = sampleWindow([file({ last_sample_at: "2026-11-21T10:00:00Z" })]);
    expect(single!.end - single!.start).toBe(1);
    expect(windowToShow(single!).end - windowToShow(single!).start).toBeGreaterThan(20_000);
  });

  it("that is running is shown with its latest progress; one that has ended as in the list", () => {
    const [over, running, queued] = [item({ id: 1 }), item({ id: 2, state: "running" }), item({ id: 3, state: "queued" })];
    const done = item({ id: 2, message: "done since" });
    expect(withNews([over, running, queued], [done, undefined, item({ id: 1, state: "running" })])).toEqual([over, done, queued]);
    const whole = item({ id: 1, files: [file(), file()] });
    expect(withNews([over, queued], [whole])).toEqual([whole, queued]);
  });

  it("sums up its files", () => {
    expect(totalsOf(item({ files: [file({ n_rejected: 2 }), file({ n_samples_new: 0 }), UNREAD], n_files: 5 }))).toMatchObject({
      n_files: 5,
      n_read: 2,
      n_reports: 20,
      n_samples: 20,
      n_new: 10,
      n_rejected: 2,
    });
  });

  it("is replaced once all its files were tried again", () => {
    const again = file({ note: "tried again: import 9", n_samples: 0 });
    expect(isReplaced(item({ files: [again] }))).toBe(true);
    expect(isReplaced(item({ files: [again, file()] }))).toBe(false);
    expect(isReplaced(item({ files: [] }))).toBe(false);
  });

  it("describes its result", () => {
    expect(describeImport(item())).toBe("10 samples");
    expect(describeImport(item({ files: [file({ n_samples_new: 0 })] }))).toBe("10 samples, all loaded before");
    expect(describeImport(item({ files: [file({ n_rejected: 1 }), UNREAD] }))).toBe(
      "1 of 2 files read; 10 samples; 1 rejected line",
    );
    expect(describeImport(item({ files: [file(), file({ n_samples_new: 4 })] }))).toBe("2 files; 20 samples, 14 of them new");
    expect(describeImport(item({ files: [file()], n_files: 300 }))).toBe("300 files; in the first 1: 10 samples");
    expect(describeImport(item({ files: [UNREAD] }))).toBe("no spec knows this");
    expect(describeImport(item({ files: [] }))).toBe("nothing could be read");
    expect(describeImport(item({ files: [], message: "the archive is empty" }))).toBe("the archive is empty");
    expect(describeImport(item({ files: [], state: "queued" }))).toBe("not started yet");
    expect(describeImport(item({ state: "failed", message: "the disk is full" }))).toBe("the disk is full");
    expect(describeImport(item({ state: "failed" }))).toBe("it failed");
  });

  it("that loaded nothing, or lacks something, needs attention", () => {
    const lacking = { ...UNREAD, missing: ["start", "interval_s"] as const };
    expect(needsAttention(item())).toBe(false);
    expect(needsAttention(item({ files: [UNREAD] }))).toBe(true);
    expect(needsAttention(item({ files: [] }))).toBe(true);
    expect(needsAttention(item({ files: [file(), { ...lacking, missing: [...lacking.missing] }] }))).toBe(true);
    expect(needsAttention(item({ files: [file(), UNREAD] }))).toBe(false);
    expect(needsAttention(item({ files: [file({ n_samples: 0, note: "tried again: import 7" })] }))).toBe(false);
    expect(needsAttention(item({ files: [file({ n_samples: 0, artefact: 7 })] }))).toBe(false);
    expect(needsAttention(item({ files: [UNREAD], state: "running" }))).toBe(false);
    expect(needsAttention(item({ files: [UNREAD], is_undo: true }))).toBe(false);
  });

  it("can be undone once, when it loaded something", () => {
    expect(canUndo(item())).toBe(true);
    expect(canUndo(item({ files: [file({ n_samples_new: 0 })] }))).toBe(false);
    expect(canUndo(item({ files: [file({ n_samples_new: 0, artefact: 7 })] }))).toBe(true);
    expect(canUndo(item({ state: "running" }))).toBe(false);
    expect(canUndo(item({ is_undo: true }))).toBe(false);
    expect(describeImport(item({ is_undo: true, message: "undone: 10 samples removed" }))).toBe("undone: 10 samples removed");
    expect(describeImport(item({ is_undo: true, state: "running" }))).toBe("removing its samples");
  });

  it("is tried again with just what the file lacks", () => {
    const lacking = file({ position: 3, missing: ["start", "interval_s"] });
    const values = { ...NO_VALUES, start: "2026-11-21 12:00:00", interval_s: "5", zone: "Europe/Berlin" };
    const nothing = { zone: null, date: null, start: null, interval_s: null, spec: null, title: null, first_is_real: null };
    const at = fromApi("2026-11-21T12:00:00Z");
    expect(retryRequest(lacking, values, at)).toEqual({ ...nothing, position: 3, start: "2026-11-21T12:00:00Z", interval_s: 5 });
    const real = retryRequest(file({ missing: ["first_is_real"] }), NO_VALUES, null);
    expect(real).toEqual({ ...nothing, position: 0, first_is_real: true });
    const files = [{ item: item(), file: lacking }];
    expect(missingOf(files)).toEqual(["start", "interval_s"]);
    expect(retryProblems(files, values, at)).toEqual({});
    expect(retryProblems(files, { ...values, interval_s: "" }, at)).toEqual({ interval_s: "needed" });
    expect(Object.keys(retryProblems(files, { ...values, interval_s: "five" }, at))).toEqual(["interval_s"]);
    expect(Object.keys(retryProblems(files, values, null))).toEqual(["start"]);
    expect(lackingFiles([item({ files: [lacking, file()] })])).toEqual([]);
    expect(lackingFiles([item({ files: [lacking, file()], can_retry: true })]).map(({ file: { position } }) => position)).toEqual(
      [3],
    );
  });

  it("takes its times from the last change of the file", () => {
    const modified_at = "2026-11-22T00:00:15Z";
    const timeless = file({ missing: ["start", "interval_s"], modified_at, span_s: 3, date_of_change: null });
    const dayless = file({ position: 1, missing: ["date"], modified_at, span_s: null, date_of_change: "2026-11-21" });
    const unknown = file({ position: 2, missing: ["date"] });
    const values = { ...NO_VALUES, usesFileTimes: true, interval_s: "5" };
    expect(retryRequest(timeless, values, null)).toMatchObject({ start: "2026-11-22T00:00:00Z", interval_s: 5 });
    expect(retryRequest(dayless, values, null)).toMatchObject({ date: "2026-11-21", start: null });
    const both = [timeless, dayless].map((each) => ({ item: item(), file: each }));
    expect(retryProblems(both, values, null)).toEqual({});
    expect(retryProblems(both, { ...values, usesFileTimes: false }, null)).toEqual({ start: "needed", date: "needed" });
    expect(retryProblems([...both, { item: item(), file: unknown }], values, null)).toEqual({ date: "needed" });
  });

  it("is tried again with the question of its tracer, if it has one", () => {
    const titled = { ...NO_VALUES, start: "2026-11-21 12:00:00", spec: "dtrace", title: " reads by size " };
    const at = fromApi("2026-11-21T12:00:00Z");
    const lacking = (spec: string | null, ...missing: ImportedFile["missing"]) => file({ spec, missing });
    expect(retryRequest(lacking("dtrace", "start"), titled, at)).toMatchObject({ title: "reads by size" });
    expect(retryRequest(lacking(null, "start", "spec"), titled, at)).toMatchObject({ title: "reads by size", spec: "dtrace" });
    expect(retryRequest(lacking("iostat_linux", "start"), titled, at)).toMatchObject({ title: null });
    expect(retryRequest(lacking("dtrace", "start"), { ...titled, title: " " }, at)).toMatchObject({ title: null });
  });

  it("says why a file was not loaded, without the options that are asked for beside it", () => {
    expect(reasonOf({ note: "not loaded: it prints no times: give --start and --interval" })).toBe("it prints no times");
    expect(
      describeImport(
        item({ files: [{ ...UNREAD, spec: "iostat_linux", note: "not loaded: it prints no times: give --start" }] }),
      ),
    ).toBe("it prints no times");
  });

  it("distinguishes new samples from existing ones", () => {
    expect(describeSamples(0, 0)).toBe("no samples");
    expect(describeSamples(1, 1)).toBe("1 sample");
    expect(describeSamples(12_000, 40)).toBe("12,000 samples, 40 of them new");
  });

  it("shows read files, rejected lines first, and unread ones by reason", () => {
    const rejecting = file({ path: "b", n_rejected: 1 });
    const other = { ...UNREAD, path: "x", note: "" };
    const parts = partFiles([file({ path: "a" }), other, UNREAD, rejecting, file({ path: "c" }), { ...UNREAD, path: "d" }]);
    expect(parts.read.map(({ path }) => path)).toEqual(["b", "a", "c"]);
    expect(parts.unread).toEqual([
      { note: "no spec knows this", paths: ["core", "d"] },
      { note: "nothing could be read", paths: ["x"] },
    ]);
  });

  it("names the form's fields, not the command's options", () => {
    expect(inPageWords("prints no times: give --start and --interval")).toBe(
      "prints no times: give “First report at” and “Seconds between reports”",
    );
    expect(inPageWords("import it with --each-host")).toBe("import it with “Each host under its own name”");
    expect(inPageWords("a --strange -- thing")).toBe("a --strange -- thing");
    expect(lacksOptions([{ note: "already loaded" }, { note: "give --date" }])).toBe(true);
    expect(lacksOptions([{ note: "already loaded" }])).toBe(false);
  });

  it("shows the most frequent reasons first", () => {
    expect(
      sortReasons([
        { reason: "z", n: 1 },
        { reason: "y", n: 5 },
        { reason: "a", n: 1 },
      ]).map(({ reason }) => reason),
    ).toEqual(["y", "a", "z"]);
  });
});
