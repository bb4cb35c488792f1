/** What the accounts of a stream say: every line and byte by kind, and what to do about those that could not be read. */

import type { ContextLine, HostAccounts, LineCounts, StreamAccount } from "./api";
import { LINE_KINDS } from "./host";
import { formatBytes, formatCount, plural } from "./number";

export const STREAM_FILTERS = ["all", "rejected", "outdated", "lost"] as const;
export type StreamFilter = (typeof STREAM_FILTERS)[number];

export const FILTER_LABELS: Readonly<Record<StreamFilter, string>> = {
  all: "all streams",
  rejected: "with rejected lines",
  outdated: "outdated",
  lost: "with lost bytes",
};

/** Texts of rejected lines are kept up to this number of each reason and stream; storage/stream_rows.py has it too. */
const MAX_KEPT = 1000;

export interface KindRow {
  readonly key: keyof LineCounts;
  readonly label: string;
  readonly help: string;
  readonly n_lines: number;
  readonly n_bytes: number;
  readonly share: string;
}

/** Lines and bytes by kind, without the kinds that there are none of; they add up to all that arrived. */
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

/** `12 %`, `0.3 %`; `< 0.1 %` where it would round to nothing, and never `100 %` of what is not all. */
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

/** Reading the kept bytes again may change something: another version of the spec, or lines that it may understand now. */
export function isWorthReadingAgain(account: StreamAccount): boolean {
  return account.is_outdated || (account.catalogue_version !== null && account.stream.n_lines.rejected > 0);
}

/** By which version of its spec a stream was read, in words. */
export function describeVersion({ spec_version, catalogue_version, is_outdated, stream }: StreamAccount): string {
  if (catalogue_version === null) {
    return `no spec is called ${stream.spec}: the bytes are kept, and lines are only counted`;
  }
  if (!is_outdated) {
    return `version ${String(catalogue_version)} of the spec`;
  }
  return spec_version === 0
    ? `there was no spec when it came; now there is one (version ${String(catalogue_version)})`
    : `version ${String(spec_version)} of the spec, which is at version ${String(catalogue_version)} now`;
}

/** `12`, or `1,000 or more` where no more are kept one by one. */
export function formatReasonCount(n: number): string {
  return n >= MAX_KEPT ? `${formatCount(MAX_KEPT)} or more` : formatCount(n);
}

/** One sentence about everything that a host sent. */
export function describeAccounts(accounts: HostAccounts): string {
  const parts = [
    `${formatBytes(accounts.n_bytes)} in ${plural(accounts.n_streams, "stream")}`,
    plural(accounts.n_lines.sample, "line of samples", "lines of samples"),
    accounts.n_lines.rejected === 0 ? "no rejected line" : plural(accounts.n_lines.rejected, "rejected line"),
  ];
  if (accounts.n_gap_bytes > 0) {
    parts.push(`${formatBytes(accounts.n_gap_bytes)} lost on the host`);
  }
  return parts.join(" · ");
}

/** The width of the column of line numbers (or offsets, where no number is known), in characters. */
export function gutterWidth(lines: readonly ContextLine[]): number {
  return Math.max(4, ...lines.map((line) => gutterText(line).length));
}

/** What stands before a line: its number; its offset where the number is not known. */
export function gutterText(line: Pick<ContextLine, "line_no" | "offset">): string {
  return line.line_no === null ? `@${String(line.offset)}` : String(line.line_no);
}
