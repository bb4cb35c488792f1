/** The processes at an instant: one report of a tool, its order, its normal values, and the states of each row. */

import type { NormalValues, ProcessReport, ReportedProcess } from "./api";
import { type EpochMs, describeDuration, fromApi, parseIso, SECOND, toDurationMs, toIso, wholeSecond } from "./time";
import { formatClock, type Zone } from "./zone";

/** The instant whose processes are shown; `stat` null: as the server chooses. */
export interface ShownInstant {
  readonly at: EpochMs;
  readonly stat: string | null;
}

/** Return the instant for the link: `2026-11-21T06:58:57Z`, and the stat after a comma where one is chosen. */
export function formatShownInstant({ at, stat }: ShownInstant): string {
  return stat === null ? toIso(at) : `${toIso(at)},${stat}`;
}

/** Parse the result of formatShownInstant; return null if it is invalid. */
export function parseShownInstant(text: string): ShownInstant | null {
  const [time = "", stat = null, ...more] = text.split(",");
  const at = parseIso(time);
  return at === null || more.length > 0 || (stat !== null && !/^[a-z]\w{0,62}$/.test(stat)) ? null : { at, stat };
}

/** Return what the rows are: `pidstat (Linux) at 06:58:57, covers 5 s`. Missing: null without a report. */
export function describeReport(report: ProcessReport, zone: Zone): string | null {
  const { reported_at, interval_s, is_of_interval } = report;
  const title = report.sources.find(({ stat }) => stat === report.stat)?.title;
  if (reported_at === null || title === undefined) {
    return null;
  }
  const at = `${title} at ${formatClock(zone, wholeSecond(fromApi(reported_at)))}`;
  if (!is_of_interval) {
    return `${at}, as it was then`;
  }
  return interval_s === null
    ? `${at}, the first report of its run; its interval is unknown`
    : `${at}, covers ${describeDuration(toDurationMs(interval_s * SECOND))}`;
}

/** Return how much older the report is than the instant, if another report was due since. Missing: null if not. */
export function overdueBy(report: ProcessReport): string | null {
  if (report.reported_at === null) {
    return null;
  }
  const age = fromApi(report.at) - fromApi(report.reported_at);
  const due = report.interval_s === null ? 60 * SECOND : 1.5 * report.interval_s * SECOND;
  return age > due ? describeDuration(toDurationMs(Math.floor(age / SECOND) * SECOND)) : null;
}

/** A column that the rows are sorted by: a place among the fields, or one of the texts. */
export type ReportColumn = number | "command" | "user";

export interface ReportSort {
  readonly by: ReportColumn;
  readonly isDescending: boolean;
}

/** Return the sort after a click on a column: numbers begin with the highest, texts with the first. */
export function nextSort(sort: ReportSort, by: ReportColumn): ReportSort {
  return sort.by === by ? { by, isDescending: !sort.isDescending } : { by, isDescending: typeof by === "number" };
}

function valueAt(row: ReportedProcess, by: ReportColumn): number | string | null {
  return by === "user" ? row.user : by === "command" ? (row.command ?? row.instance) : (row.values[by] ?? null);
}

/** Return the rows in order; those without a value come last. */
export function sortRows(rows: readonly ReportedProcess[], { by, isDescending }: ReportSort): readonly ReportedProcess[] {
  const sign = isDescending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [one, other] = [valueAt(a, by), valueAt(b, by)];
    if (one === null || other === null) {
      return Number(one === null) - Number(other === null);
    }
    return one === other ? 0 : one < other ? -sign : sign;
  });
}

/** Return the normal values by the name of a row's command or instance. */
export function normalsByName(report: Pick<ProcessReport, "normals">): ReadonlyMap<string, NormalValues> {
  return new Map(report.normals.map((normal) => [normal.name, normal]));
}

/** Return the normal values of a row. Missing: null where there are none, as for threads. */
export function normalOf(
  row: ReportedProcess,
  normals: ReadonlyMap<string, NormalValues>,
  of: ProcessReport["normal_of"],
): NormalValues | null {
  return normals.get(of === "process" ? row.instance : (row.command ?? "")) ?? null;
}

/** Return whether the command did more than p95 of the baseline. */
export function isAboveNormal({ totals, bands }: Pick<NormalValues, "totals" | "bands">, place: number): boolean {
  const [total, band] = [totals[place] ?? null, bands[place] ?? null];
  return total !== null && band !== null && total > band.p95;
}

const STATES: Readonly<Record<string, { readonly title: string; readonly slot: number }>> = {
  user: { title: "user code", slot: 0 },
  system: { title: "kernel", slot: 1 },
  guest: { title: "virtual processors", slot: 2 },
  trap: { title: "traps", slot: 8 },
  text_fault: { title: "page faults of text", slot: 4 },
  data_fault: { title: "page faults of data", slot: 9 },
  lock: { title: "user locks", slot: 3 },
  sleep: { title: "asleep", slot: 5 },
  cpu_wait: { title: "waiting for a CPU", slot: 7 },
};

/** Return the name of a state. */
export function stateTitle(state: string): string {
  return STATES[state]?.title ?? state;
}

/** Return the place of a state in the palette: the same in every table. */
export function stateSlot(state: string): number {
  return STATES[state]?.slot ?? 6;
}

/** A part of a bar. */
export interface StatePart {
  readonly state: string;
  readonly value: number;
  /** Of the width of the bar, 0..1. */
  readonly share: number;
}

/**
 * Return the parts of a row's bar, without those of 0. The bar is 100 % of one CPU or thread, and as wide as the sum where a process
 * of several threads used more.
 */
export function stateParts(states: readonly string[], values: readonly (number | null)[]): readonly StatePart[] {
  const whole = Math.max(
    100,
    values.reduce<number>((sum, value) => sum + Math.max(0, value ?? 0), 0),
  );
  return states.flatMap((state, place) => {
    const value = values[place] ?? 0;
    return value > 0 ? [{ state, value, share: value / whole }] : [];
  });
}

/** Return a bar as text: `user code 61 %, kernel 12 %`. */
export function describeStates(parts: readonly StatePart[]): string {
  return parts.length === 0 ? "no time" : parts.map(({ state, value }) => `${stateTitle(state)} ${String(value)} %`).join(", ");
}
