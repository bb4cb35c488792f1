/** Hosts as text. */

import type { HostInfo, LineCounts } from "./api";
import { formatCount } from "./number";

/** Return the hosts whose name or system contain every word. */
export function filterHosts(hosts: readonly HostInfo[], filter: string): readonly HostInfo[] {
  const terms = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return hosts.filter(({ name, os }) => terms.every((word) => `${name} ${os}`.toLowerCase().includes(word)));
}

/** Return a clock offset as text: `+3 s`, `−12 s`; agents send whole seconds, so less than 2 s counts as in sync. */
export function describeClockOffset(offset_s: number | null): string {
  if (offset_s === null) {
    return "–";
  }
  const size = Math.abs(offset_s);
  if (size < 2) {
    return "in sync";
  }
  const sign = offset_s < 0 ? "−" : "+";
  return size >= 120 ? `${sign}${(size / 60).toFixed(0)} min` : `${sign}${size.toFixed(0)} s`;
}

/** Return the rise of rejected lines as text: `120 in the last hour, 3 in the hour before`. */
export function describeRise(host: Pick<HostInfo, "n_rejected_last_hour" | "n_rejected_hour_before">): string {
  return `${formatCount(host.n_rejected_last_hour)} in the last hour, ${formatCount(host.n_rejected_hour_before)} in the hour before`;
}

/** Return the kinds that a table shows: samples and rejected lines always, others if not empty. */
export function kindsToShow(all: readonly LineCounts[]): typeof LINE_KINDS {
  return LINE_KINDS.filter(({ key }) => key === "sample" || key === "rejected" || all.some((counts) => counts[key] > 0));
}

/** Return the number of lines received, of every kind. */
export function totalLines(counts: LineCounts): number {
  return (
    counts.header + counts.sample + counts.since_boot + counts.timestamp + counts.state_change + counts.ignored + counts.rejected
  );
}

/** The kinds of lines with their meaning, in the order of the tables. */
export const LINE_KINDS: readonly { readonly key: keyof LineCounts; readonly label: string; readonly help: string }[] = [
  { key: "sample", label: "samples", help: "rows parsed into samples" },
  { key: "header", label: "headers", help: "lines that name the columns" },
  { key: "timestamp", label: "timestamps", help: "lines that only hold a time" },
  { key: "since_boot", label: "since boot", help: "first reports: averages since boot, not stored as samples" },
  { key: "state_change", label: "state changes", help: "such as a CPU going online or offline" },
  { key: "ignored", label: "ignored", help: "lines ignored by the spec, or output of a tool without a spec" },
  { key: "rejected", label: "rejected", help: "lines that could not be parsed; see Rejected lines" },
];

/** Return whether a host's clock is off by so much that times of hosts cannot be compared. */
export function isClockOff(offset_s: number | null): boolean {
  return offset_s !== null && Math.abs(offset_s) >= 2;
}
