/** The lines and bytes of streams by kind, and when a reparse may help. */

import type { ContextLine, HostAccounts, LineCounts, StreamAccount } from "./api";
import { LINE_KINDS } from "./host";
import { formatBytes, formatCount } from "./number";
import { counted } from "./counted";

export const STREAM_FILTERS = ["all", "rejected", "outdated", "lost"] as const;
export type StreamFilter = (typeof STREAM_FILTERS)[number];

export const FILTER_LABELS: Readonly<Record<StreamFilter, string>> = {
  all: "all streams",
  rejected: "with rejected lines",
  outdated: "outdated",
  lost: "with lost bytes",
};

/** The text of at most this many rejected lines is stored per reason and stream; the same limit is in samples/stream_rows.py. */
const MAX_KEPT = 1000;

export interface KindRow {
  readonly key: keyof LineCounts;
  readonly label: string;
  readonly help: string;
  readonly n_lines: number;
  readonly n_bytes: number;
  readonly share: string;
}

/** Return lines and bytes by kind, without empty kinds; they add up to everything received. */
export function kindRows(lines: LineCounts, bytes: LineCounts): readonly KindRow[] {
  const total = LINE_KINDS.reduce((sum, { key }) => sum + bytes[key], 0);
  return LINE_KINDS.filter(({ key }) => lines[key] > 0 || bytes[key] > 0).map(({ key, label, help }) => ({
    key,
    label,
    help,
    n_lines: lines[key],
    n_bytes: bytes[key],
    share: formatShare(bytes[key], total),
  }));
}

/** Return a share as text: `12 %`, `0.3 %`, `< 0.1 %`; `100 %` only for all. */
export function formatShare(part: number, total: number): string {
  if (total <= 0 || part <= 0) {
    return "0 %";
  }
  const percent = (100 * part) / total;
  if (percent < 0.1) {
    return "< 0.1 %";
  }
  if (part < total && percent > 99.9) {
    return "> 99.9 %";
  }
  return `${percent < 10 || (part < total && percent > 99) ? percent.toFixed(1) : percent.toFixed(0)} %`;
}

/** Return whether a reparse may change anything: the stream is outdated, or has rejected lines and a spec. */
export function mayReparseHelp(account: StreamAccount): boolean {
  return account.is_outdated || (account.catalogue_version !== null && account.stream.n_lines.rejected > 0);
}

/** Return why a stream has nothing but reports about the time since boot, and what to do. Empty: it has samples, or may get some. */
export function describeSinceBoot({ stream }: StreamAccount): string {
  const { n_lines, command, state } = stream;
  if (n_lines.sample > 0 || n_lines.since_boot === 0) {
    return "";
  }
  if (command.startsWith("@")) {
    return "no samples: each call prints its report since boot only; add an interval and a count, as in @60 mpstat 5 2";
  }
  return state === "live" ? "" : "no samples: it printed its report since boot only; call the tool with an interval";
}

/** Return the version of the spec that a stream was parsed with, as text. */
export function describeVersion({ spec_version, catalogue_version, is_outdated, stream }: StreamAccount): string {
  if (catalogue_version === null) {
    return `no spec ${stream.spec}; bytes are kept, lines are only counted`;
  }
  if (!is_outdated) {
    return `version ${String(catalogue_version)} of the spec`;
  }
  return spec_version === 0
    ? `no spec when received; now version ${String(catalogue_version)}`
    : `version ${String(spec_version)} of the spec (current: ${String(catalogue_version)})`;
}

/** Return a count of rejected lines as text: `12`, or `1,000 or more` at the storage limit. */
export function formatReasonCount(n: number): string {
  return n >= MAX_KEPT ? `${formatCount(MAX_KEPT)} or more` : formatCount(n);
}

/** Return a summary of everything that a host sent. */
export function describeAccounts(accounts: HostAccounts): string {
  const parts = [
    `${formatBytes(accounts.n_bytes)} in ${counted(accounts.n_streams, "stream")}`,
    counted(accounts.n_lines.sample, "line of samples", "lines of samples"),
    accounts.n_lines.rejected === 0 ? "no rejected line" : counted(accounts.n_lines.rejected, "rejected line"),
  ];
  if (accounts.n_gap_bytes > 0) {
    parts.push(`${formatBytes(accounts.n_gap_bytes)} lost on the host`);
  }
  return parts.join(" · ");
}

/** Return the width of the column of line numbers (or offsets, if the numbers are unknown), in characters. */
export function gutterWidth(lines: readonly ContextLine[]): number {
  return Math.max(4, ...lines.map((line) => gutterText(line).length));
}

/** Return the line number, or the offset if the number is unknown. */
export function gutterText(line: Pick<ContextLine, "line_no" | "offset">): string {
  return line.line_no === null ? `@${String(line.offset)}` : String(line.line_no);
}
