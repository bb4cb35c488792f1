/** Addresses of exports and of the live stream, and a window as parameters. */

import { toIso, type Window } from "../logic/time";
import { addressOf } from "./client";

/** Return the parameters of a window. */
export function span(window: Window): { readonly start: string; readonly end: string } {
  return { start: toIso(window.start), end: toIso(window.end) };
}

/** Return the URL of a CSV export: one stat (wide), or all stats (long). */
export function csvAddress(host: string, window: Window, stat: string | null): string {
  return addressOf("/export.csv", { host, stat: stat ?? undefined, ...span(window) });
}

/** The lines to export: those named, or all of the fields. */
interface ExportedLines {
  readonly fields: readonly string[];
  readonly lines: readonly { readonly field: string; readonly instance: string }[];
}

/** Return the URL of a CSV export of some lines of a stat. */
export function linesAddress(host: string, window: Window, stat: string, { fields, lines }: ExportedLines): string {
  const line = lines.map(({ field, instance }) => `${field}:${instance}`);
  return addressOf("/export.csv", { host, stat, ...span(window), field: fields, line });
}

/** Return the URL of a Parquet export of one stat. */
export function parquetAddress(host: string, window: Window, stat: string): string {
  return addressOf("/export.parquet", { host, stat, ...span(window) });
}

export function liveAddress(host: string | null): string {
  return addressOf("/live", { host: host ?? undefined });
}

/** Return the URL of a bundle of a host and a window; `reports` go into it besides those of the window. */
export function bundleAddress(host: string, window: Window, reports: readonly number[] = []): string {
  return addressOf("/bundle", { host, ...span(window), report: reports.map(String) });
}
