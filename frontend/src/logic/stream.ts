/** The lines and bytes of streams by kind, and when a reparse may help. */

import type { ContextLine, HostAccounts, LineCounts, StreamAccount } from "./api";
import { LINE_KINDS } from "./host";
import { formatBytes, formatCount } from "./number";
import { words } from "../words";

export const STREAM_FILTERS = ["all", "rejected", "outdated", "lost"] as const;
export type StreamFilter = (typeof STREAM_FILTERS)[number];

export const FILTER_LABELS: Readonly<Record<StreamFilter, string>> = {
  all: words.logic.stream.allStreams,
  rejected: words.logic.stream.withRejectedLines,
  outdated: words.logic.stream.outdated,
  lost: words.logic.stream.withLostBytes,
};

/** The text of at most this many rejected lines is stored per reason and stream; the same limit is in storage/stream_rows.py. */
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
    return words.logic.stream.noSamplesEachCall;
  }
  return state === "live" ? "" : words.logic.stream.noSamplesPrintedReport;
}

/** Return the version of the spec that a stream was parsed with, as text. */
export function describeVersion({ spec_version, catalogue_version, is_outdated, stream }: StreamAccount): string {
  if (catalogue_version === null) {
    return words.logic.stream.noSpecBytesKept(stream.spec);
  }
  if (!is_outdated) {
    return words.logic.stream.versionOfTheSpec(String(catalogue_version));
  }
  return spec_version === 0
    ? words.logic.stream.noSpecWhenReceived(String(catalogue_version))
    : words.logic.stream.versionSpecCurrent(String(spec_version), String(catalogue_version));
}

/** Return a count of rejected lines as text: `12`, or `1,000 or more` at the storage limit. */
export function formatReasonCount(n: number): string {
  return n >= MAX_KEPT ? words.logic.stream.orMore(formatCount(MAX_KEPT)) : formatCount(n);
}

/** Return a summary of everything that a host sent. */
export function describeAccounts(accounts: HostAccounts): string {
  const parts = [
    words.logic.stream.inStream(formatBytes(accounts.n_bytes), accounts.n_streams),
    words.logic.stream.nLinesOfSamples(accounts.n_lines.sample),
    accounts.n_lines.rejected === 0
      ? words.logic.stream.noRejectedLine
      : words.logic.stream.nRejectedLine(accounts.n_lines.rejected),
  ];
  if (accounts.n_gap_bytes > 0) {
    parts.push(words.logic.stream.lostOnTheHost(formatBytes(accounts.n_gap_bytes)));
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
