import { describe, expect, it } from "vitest";
import type { RetentionRulePut, RetentionRun, StorageInfo } from "./api";
import {
  bySize,
  consequencesOf,
  cutOff,
  daysProblem,
  describeDays,
  describePacking,
  describeRun,
  draftsOf,
  describeStandby,
  forecastOf,
  formatBytesPerValue,
  formatGrowth,
  isAnyRunning,
  isSameRules,
  rulesOf,
  slicesOf,
} from "./storage";
import { toEpochMs } from "./time";

const GB = 1e9;

const storage = (change: Partial<StorageInfo>): StorageInfo => ({
  kind: "postgresql",
  measured_at: "2026-11-21T09:00:00Z",
  database_bytes: 40 * GB,
  disk: { free_bytes: 50 * GB, total_bytes: 100 * GB },
  growth_bytes_per_day: GB,
  days_until_full: 50,
  standby: null,
  is_before_sealing: false,
  parts: [
    { part: "samples", bytes: 30 * GB },
    { part: "chunks", bytes: 8 * GB },
    { part: "rollups", bytes: GB },
    { part: "other", bytes: GB },
  ],
  raw: { n_bytes: 90 * GB, n_packed_bytes: 80 * GB, chunk_table_bytes: 2 * GB, packed_table_bytes: 6 * GB },
  stats: [],
  hosts: [],
  ...change,
});

describe("when the disk is full", () => {
  it("is calm, then a warning, then an alarm", () => {
    const levels = [365, 30, 29.9, 7, 6.9, 0].map((days) => forecastOf(storage({ days_until_full: days })).level);
    expect(levels).toEqual(["calm", "calm", "warn", "warn", "urgent", "urgent"]);
    const urgent = forecastOf(storage({ days_until_full: 3.9 }));
    expect(urgent.text).toBe("3 days");
    expect(urgent.note).toMatch(/Free space/);
  });

  it("tells that rows of the first days are going to be sealed, unless the disk is full before that", () => {
    const first = [12, 3].map((days) => forecastOf(storage({ days_until_full: days, is_before_sealing: true })));
    expect(first.map(({ level }) => level)).toEqual(["calm", "urgent"]);
    expect(first[0]?.note).toMatch(/Packed, a day later/);
    expect(first[1]?.note).toMatch(/Free space/);
  });

  it("is not guessed if unknown", () => {
    const nothing = { days_until_full: null };
    expect(forecastOf(storage({ ...nothing, disk: { free_bytes: null, total_bytes: null } })).text).toBe("unknown");
    expect(forecastOf(storage({ ...nothing, growth_bytes_per_day: null })).text).toBe("unknown yet");
    expect(forecastOf(storage({ ...nothing, growth_bytes_per_day: -5 })).text).toBe("never at this rate");
  });

  it("is rounded, as it is a forecast", () => {
    expect([0.4, 1, 29.9, 59, 61, 800, 1e6].map(describeDays)).toEqual([
      "less than a day",
      "1 day",
      "29 days",
      "59 days",
      "2 months",
      "2 years",
      "more than 20 years",
    ]);
  });
});

describe("the disk", () => {
  it("consists of its parts, other data and free space", () => {
    const slices = slicesOf(storage({}));
    expect(slices.map(({ key, bytes }) => [key, bytes / GB])).toEqual([
      ["samples", 30],
      ["chunks", 8],
      ["rollups", 1],
      ["other", 1],
      ["elsewhere", 10],
      ["free", 50],
    ]);
    expect(slices.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
  });

  it("is the database alone if its size is unknown, and may be empty", () => {
    const alone = slicesOf(storage({ disk: { free_bytes: null, total_bytes: null } }));
    expect(alone.map(({ key }) => key)).toEqual(["samples", "chunks", "rollups", "other"]);
    const empty = slicesOf(storage({ parts: [], disk: { free_bytes: null, total_bytes: null } }));
    expect(empty).toEqual([]);
  });

  it("tells how much of the raw bytes is packed, if there are any", () => {
    expect(describePacking(storage({}))).toBe(
      "Raw bytes: 90 GB received. 80 GB of them are packed into 6 GB; those of the last days take 2 GB.",
    );
    const fresh = { n_bytes: 9e6, n_packed_bytes: 0, chunk_table_bytes: 3e6, packed_table_bytes: 8192 };
    expect(describePacking({ raw: fresh })).toMatch(/9 MB received; they take 3 MB/);
    const nothing = { n_bytes: 0, n_packed_bytes: 0, chunk_table_bytes: 8192, packed_table_bytes: 8192 };
    expect(describePacking({ raw: nothing })).toBe("");
  });

  it("is listed by size", () => {
    const sized = bySize([{ n: 1 }, { n: 4 }, { n: 2 }], ({ n }) => ({ name: String(n), bytes: n }));
    expect(sized.map(({ name, share }) => [name, share])).toEqual([
      ["4", 1],
      ["2", 0.5],
      ["1", 0.25],
    ]);
  });

  it("describes its growth in words", () => {
    expect([1.2e9, -3e6, 0, 0.2, null].map(formatGrowth)).toEqual(["+1.2 GB", "−3 MB", "0 B", "0 B", "–"]);
    expect([1.418, 12.34, null].map((bytes) => formatBytesPerValue(bytes, 1e6))).toEqual(["1.42", "12.3", "–"]);
    // Six values in two pages are no 2,700 bytes a value.
    expect(formatBytesPerValue(2730.7, 6)).toBe("–");
  });
});

const rule = (stat: string | null, samples_days: number | null, chunks_days: number | null): RetentionRulePut => ({
  stat,
  samples_days,
  chunks_days,
});

describe("rules", () => {
  it("are read from the form as entered; forever needs no rule for all other stats", () => {
    const stored = [rule("mpstat_linux", 30, null), rule(null, null, 7)].map((each) => ({
      ...each,
      updated_by: "admin",
      updated_at: "2026-11-21T09:00:00Z",
    }));
    const drafts = draftsOf(stored);
    expect(isSameRules(rulesOf(drafts)!, stored)).toBe(true);
    expect(draftsOf([])).toEqual([{ id: 0, stat: null, samples: "", chunks: "" }]);
    expect(rulesOf(draftsOf([]))).toEqual([]);
    expect(isSameRules(rulesOf(drafts)!, stored.slice(0, 1))).toBe(false);
  });

  it("accept whole days or nothing", () => {
    expect(["", " ", "1", "100000", "0", "1.5", "-3", "ten", "100001"].map((text) => daysProblem(text) === null)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
    expect(rulesOf([{ id: 0, stat: null, samples: "x", chunks: "" }])).toBeNull();
  });

  const now = toEpochMs(Date.UTC(2026, 10, 21, 15, 30));

  it("delete from the beginning of a day in UTC", () => {
    expect(cutOff(1, now)).toBe(Date.UTC(2026, 10, 20));
  });

  const told = (old: RetentionRulePut[], next: RetentionRulePut[]) =>
    consequencesOf(old, next, now).map(({ what, stat, keptUntilNow_days }) => [what, stat, keptUntilNow_days]);

  it("say which data they delete that was kept before", () => {
    expect(told([], [rule(null, 30, null)])).toEqual([["samples", null, null]]);
    expect(told([rule(null, 30, 30)], [rule(null, 30, 7)])).toEqual([["raw_bytes", null, 30]]);
    expect(told([rule(null, 30, 30)], [rule(null, 90, null)])).toEqual([]);
  });

  it("of a stat fall back to those for all other stats", () => {
    const old = [rule("mpstat_linux", null, null), rule(null, 30, null)];
    expect(told(old, [rule(null, 30, null)])).toEqual([["samples", "mpstat_linux", null]]);
    expect(told([rule(null, 30, null)], old)).toEqual([]);
  });
});

describe("runs", () => {
  const run = (change: Partial<RetentionRun>): RetentionRun => ({
    job_id: 1,
    id: 1,
    state: "done",
    message: "",
    n_samples: 0,
    n_instances: 0,
    n_chunks: 0,
    n_chunk_bytes: 0,
    n_results: 0,
    created_by: "admin",
    created_at: "2026-11-21T09:00:00Z",
    finished_at: null,
    ...change,
  });

  it("say what they deleted", () => {
    expect(describeRun(run({}))).toBe("no old data found");
    expect(describeRun(run({ n_samples: 1, n_chunk_bytes: 2_000 }))).toBe("deleted 1 sample and 2 kB of raw bytes");
    expect(describeRun(run({ n_results: 2 }))).toBe("deleted 2 results of watching");
    expect(describeRun(run({ state: "running", n_samples: 5 }))).toBe("deleted 5 samples so far");
    expect(describeRun(run({ state: "failed", message: "mpstat_linux: gone", n_samples: 5 }))).toBe(
      "mpstat_linux: gone; deleted 5 samples",
    );
    expect(isAnyRunning({ runs: [run({}), run({ state: "queued" })] })).toBe(true);
    expect(isAnyRunning(undefined)).toBe(false);
  });
});

describe("the standby", () => {
  const standby = (change: Partial<NonNullable<StorageInfo["standby"]>>) =>
    describeStandby(storage({ standby: { state: "used", lag_s: 0.25, lag_bytes: 4000, message: "", ...change } }));

  it("says how far it is behind", () => {
    expect(standby({})).toEqual({
      level: "calm",
      text: "0.3 s behind",
      note: "graphs, comparisons and exports are read from it",
    });
    expect(describeStandby(storage({}))).toBeNull();
  });

  it("says why it is not used, as a warning", () => {
    const found = standby({ state: "gone", lag_s: null, lag_bytes: null, message: "It does not answer" });
    expect(found).toEqual({ level: "warn", text: "not used", note: "It does not answer. The primary serves all reads." });
  });
});
