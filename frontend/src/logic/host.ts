/** What lists say about hosts. */

import type { HostInfo, LineCounts } from "./api";
import { formatCount } from "./number";

/** Hosts in whose name or system every word occurs. */
export function filterHosts(hosts: readonly HostInfo[], filter: string): readonly HostInfo[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return hosts.filter(({ name, os }) => words.every((word) => `${name} ${os}`.toLowerCase().includes(word)));
}

/** `+3 s`, `−12 s`; agents send whole seconds, so less than two is in time. */
export function describeClockOffset(offset_s: number | null): string {
  if (offset_s === null) {
    return "–";
  }
  const size = Math.abs(offset_s);
  if (size < 2) {
    return "in time";
  }
  const sign = offset_s < 0 ? "−" : "+";
  return size >= 120 ? `${sign}${(size / 60).toFixed(0)} min` : `${sign}${size.toFixed(0)} s`;
}

/** Why the rejected lines of a host stand out: `120 in the last hour, 3 in the hour before`. */
export function describeRise(host: Pick<HostInfo, "n_rejected_last_hour" | "n_rejected_hour_before">): string {
  return `${formatCount(host.n_rejected_last_hour)} in the last hour, ${formatCount(host.n_rejected_hour_before)} in the hour before`;
}

/** The kinds that a table needs: samples and rejected lines always, the others where there are any. */
export function kindsToShow(all: readonly LineCounts[]): typeof LINE_KINDS {
  return LINE_KINDS.filter(({ key }) => key === "sample" || key === "rejected" || all.some((counts) => counts[key] > 0));
}

/** Every line that arrived, whatever became of it. */
export function totalLines(counts: LineCounts): number {
  return (
    counts.header + counts.sample + counts.since_boot + counts.timestamp + counts.state_change + counts.ignored + counts.rejected
  );
}

/** The kinds of lines in the order of the accounting, with what they are. */
export const LINE_KINDS: readonly { readonly key: keyof LineCounts; readonly label: string; readonly help: string }[] = [
  { key: "sample", label: "samples", help: "rows that became samples" },
  { key: "header", label: "headers", help: "headings that name the columns" },
  { key: "timestamp", label: "times", help: "lines that only say when" },
  { key: "since_boot", label: "since boot", help: "first reports: averages since the system started, never samples" },
  { key: "state_change", label: "state changes", help: "such as a CPU that came or went" },
  { key: "ignored", label: "ignored", help: "lines that the spec leaves out, or of a tool that no spec knows" },
  { key: "rejected", label: "rejected", help: "lines that do not fit; kept, and shown under Rejected lines" },
];
