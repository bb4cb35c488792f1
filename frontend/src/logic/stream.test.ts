import { describe, expect, it } from "vitest";
import type { HostAccounts, LineCounts, StreamAccount } from "./api";
import {
  describeAccounts,
  describeSinceBoot,
  describeVersion,
  formatReasonCount,
  formatShare,
  gutterText,
  gutterWidth,
  mayReparseHelp,
  kindRows,
} from "./stream";

const NONE: LineCounts = { header: 0, sample: 0, since_boot: 0, timestamp: 0, state_change: 0, ignored: 0, rejected: 0 };

function account(change: Partial<StreamAccount>, n_rejected = 0): StreamAccount {
  return {
    stream: {
      id: 1,
      spec: "vmstat_linux",
      stats: ["vmstat_linux"],
      key: "k",
      command: "vmstat 1",
      state: "live",
      created_at: "2026-11-21T10:00:00Z",
      last_received_at: null,
      last_sample_at: null,
      acked_offset: 100,
      n_lines: { ...NONE, rejected: n_rejected },
      n_gap_bytes: 0,
      ended: null,
    },
    first_sample_at: null,
    bytes_by_kind: NONE,
    n_gaps: 0,
    spec_version: 1,
    catalogue_version: 1,
    is_outdated: false,
    reasons: [],
    n_reasons: 0,
    ...change,
  };
}

describe("the accounts of a stream", () => {
  it("have a row for each kind that occurred, and the rows add up", () => {
    const rows = kindRows({ ...NONE, sample: 90, rejected: 1, header: 2 }, { ...NONE, sample: 900, rejected: 1, header: 99 });
    expect(rows.map(({ key, n_lines, n_bytes, share }) => [key, n_lines, n_bytes, share])).toEqual([
      ["sample", 90, 900, "90 %"],
      ["header", 2, 99, "9.9 %"],
      ["rejected", 1, 1, "0.1 %"],
    ]);
    expect(kindRows(NONE, NONE)).toEqual([]);
  });

  it("show bytes of lines that were too long to count as more than one", () => {
    expect(kindRows({ ...NONE, rejected: 0 }, { ...NONE, rejected: 5 })).toHaveLength(1);
  });

  it("never round a share to nothing or to all", () => {
    expect(formatShare(1, 100_000)).toBe("< 0.1 %");
    expect(formatShare(99_999, 100_000)).toBe("> 99.9 %");
    expect(formatShare(995, 1000)).toBe("99.5 %");
    expect(formatShare(100, 100)).toBe("100 %");
    expect(formatShare(0, 100)).toBe("0 %");
    expect(formatShare(0, 0)).toBe("0 %");
  });

  it("name the version of the spec that parsed it", () => {
    expect(describeVersion(account({}))).toBe("version 1 of the spec");
    expect(describeVersion(account({ is_outdated: true, catalogue_version: 3 }))).toBe("version 1 of the spec (current: 3)");
    expect(describeVersion(account({ is_outdated: true, spec_version: 0, catalogue_version: 2 }))).toContain(
      "no spec when received",
    );
    expect(describeVersion(account({ spec_version: 0, catalogue_version: null }))).toContain("no spec vmstat_linux");
  });

  it("say what to do when they have reports since boot only", () => {
    const { stream } = account({});
    const of = (command: string, n_lines: Partial<LineCounts>, state = stream.state) =>
      describeSinceBoot(account({ stream: { ...stream, command, state, n_lines: { ...NONE, ...n_lines } } }));
    expect(of("@60 mpstat", { since_boot: 2 })).toContain("add an interval and a count");
    expect(of("@60 mpstat 5 2", { since_boot: 2, sample: 2 })).toBe("");
    expect(of("vmstat 1", { since_boot: 1 })).toBe("");
    expect(of("vmstat", { since_boot: 1 }, "recorded")).toContain("call the tool with an interval");
    expect(of("vmstat", {}, "recorded")).toBe("");
  });

  it("offer a reparse of streams parsed by another version, and of rejected lines with a spec", () => {
    expect(mayReparseHelp(account({}))).toBe(false);
    expect(mayReparseHelp(account({ is_outdated: true }))).toBe(true);
    expect(mayReparseHelp(account({}, 3))).toBe(true);
    expect(mayReparseHelp(account({ catalogue_version: null }, 3))).toBe(false);
  });
});

describe("the accounts of a host", () => {
  const accounts: HostAccounts = {
    host: "web1",
    n_streams: 1,
    n_streams_outdated: 0,
    n_bytes: 1400,
    n_gap_bytes: 0,
    n_lines: { ...NONE, sample: 1200, rejected: 1 },
    bytes_by_kind: NONE,
    n_matching: 1,
    streams: [],
  };

  it("are described in one sentence", () => {
    expect(describeAccounts(accounts)).toBe("1.4 kB in 1 stream · 1,200 lines of samples · 1 rejected line");
    expect(describeAccounts({ ...accounts, n_lines: NONE, n_gap_bytes: 2_000_000 })).toBe(
      "1.4 kB in 1 stream · 0 lines of samples · no rejected line · 2 MB lost on the host",
    );
  });

  it("count reasons as far as their lines are stored", () => {
    expect(formatReasonCount(999)).toBe("999");
    expect(formatReasonCount(1000)).toBe("1,000 or more");
  });
});

describe("lines of raw output", () => {
  const line = (line_no: number | null, offset: number) => ({
    line_no,
    offset,
    n_bytes: 1,
    text: "",
    is_cut: false,
    is_target: false,
    is_after_gap: false,
  });

  it("show their number, or their offset if the number is unknown", () => {
    expect(gutterText(line(12, 3456))).toBe("12");
    expect(gutterText(line(null, 3456))).toBe("@3456");
    expect(gutterWidth([line(1, 0), line(123_456, 0)])).toBe(6);
    expect(gutterWidth([line(1, 0)])).toBe(4);
  });
});
