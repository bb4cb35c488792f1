/** Which drawings a table of an artefact has, and errors by CPU and memory module (mcelog). */

import type { ArtefactTable, IntervalView } from "./api";
import { formatValue } from "./number";
import { toEpochMs } from "./time";
import { formatClock, type Zone } from "./zone";

/** A number of errors. Missing: null where the tool printed none. */
export type ErrorCount = number | null;

/** Errors of one place. */
export interface ErrorCell {
  readonly corrected: ErrorCount;
  readonly uncorrected: ErrorCount;
}

/** Errors by two parts of their place. Missing: null for places that no error or counter is of. */
export interface ErrorGrid {
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  readonly cells: readonly (readonly (ErrorCell | null)[])[];
}

interface Placed extends ErrorCell {
  readonly row: string;
  readonly column: string;
}

/** The parts of the key of an event that say where it happened. */
export const ERROR_PLACE = ["CPU", "bank", "module"] as const;

/** Return whether rows of a stat are errors with a place in the machine. */
export function isErrorStat(stat: string): boolean {
  return stat === "mcelog_events" || stat === "mcelog_memory";
}

/** Return whether a table of several reports is drawn over time: perf stat -I, and whatever has a time with each report. */
export function hasIntervals(stat: string, reports: readonly (number | null)[]): boolean {
  return reports.length > 1 && !isErrorStat(stat) && (stat.startsWith("perf_stat") || reports.every((at) => at !== null));
}

/** Return the texts of the reports of lines over time. */
export function intervalLabels({ clock, times }: Pick<IntervalView, "clock" | "times">, zone: Zone): readonly string[] {
  switch (clock) {
    case "epoch":
      return times.map((at) => formatClock(zone, toEpochMs(Math.floor(at))));
    case "elapsed":
      return times.map((at) => `${formatValue(at / 1000, at % 1000 === 0 ? 0 : 1)} s`);
    default:
      return times.map(String);
  }
}

function add(left: ErrorCount, right: ErrorCount): ErrorCount {
  return left === null || right === null ? (left ?? right) : left + right;
}

/** Numbers by their size, words such as `any` after them. */
function byNumber(left: string, right: string): number {
  return left.localeCompare(right, "en", { numeric: true });
}

function gridOf(placed: readonly Placed[]): ErrorGrid | null {
  if (placed.length === 0) {
    return null;
  }
  const rows = [...new Set(placed.map(({ row }) => row))].sort(byNumber);
  const columns = [...new Set(placed.map(({ column }) => column))].sort(byNumber);
  const cells = rows.map((row) =>
    columns.map((column) =>
      placed
        .filter((each) => each.row === row && each.column === column)
        .reduce<ErrorCell | null>(
          (sum, { corrected, uncorrected }) => ({
            corrected: add(sum?.corrected ?? null, corrected),
            uncorrected: add(sum?.uncorrected ?? null, uncorrected),
          }),
          null,
        ),
    ),
  );
  return { rows, columns, cells };
}

type ErrorTable = Pick<ArtefactTable, "rows" | "columns" | "key_names">;

function placedBy(
  { rows, columns, key_names }: ErrorTable,
  suffix: string,
  place: (keys: Readonly<Record<string, string>>) => readonly [string, string] | null,
): readonly Placed[] {
  const corrected = columns.findIndex(({ key }) => key === `corrected${suffix}`);
  const uncorrected = columns.findIndex(({ key }) => key === `uncorrected${suffix}`);
  return rows.flatMap(({ key, values }) => {
    const found = place(Object.fromEntries(key_names.map((name, at) => [name, key[at] ?? ""])));
    return found === null
      ? []
      : [{ row: found[0], column: found[1], corrected: values[corrected] ?? null, uncorrected: values[uncorrected] ?? null }];
  });
}

/** Return the errors of events by CPU and bank. Missing: null without any. */
export function errorsByCpu(table: ErrorTable): ErrorGrid | null {
  return gridOf(placedBy(table, "", (keys) => (keys["CPU"] === "" ? null : [keys["CPU"] ?? "", keys["bank"] ?? ""])));
}

/** Return the errors by memory module: rows are `socket channel`, columns DIMMs; `` where it was not told. Missing: null without any. */
export function errorsByModule(table: ErrorTable): ErrorGrid | null {
  const isMemory = table.key_names.includes("DIMM");
  return gridOf(
    isMemory
      ? placedBy(table, "_total", ({ socket = "", channel = "", DIMM = "" }) => [`${socket} ${channel}`, DIMM])
      : placedBy(table, "", (keys) => {
          const text = keys["module"] ?? "";
          const word = (name: string) => new RegExp(`${name} (\\S+)`).exec(text)?.[1] ?? "";
          return text === "" ? null : [`${word("SOCKET")} ${word("CHANNEL")}`, word("DIMM")];
        }),
  );
}
