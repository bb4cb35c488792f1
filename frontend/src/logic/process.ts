/** Commands and processes: which instances they are, which graphs show them, and how a table of them is cut. */

import type { FieldInfo, ListedProcess, ProcessDetail, ProcessField, ProcessLife, StatInfo } from "./api";
import { formatValue, formatWithUnit } from "./number";
import type { PanelPlan } from "./panel";
import { type EpochMs, fromApi, type Window } from "./time";
import { scaleFor } from "./unit";

/** A command, or a process with its PID. */
interface Named {
  readonly command: string;
  readonly pid: number | null;
}

// The server's stats/engine/report_sums.py names them alike.
const PROCESS = /^(\d+)\/((?!\d+\/|\|__)[^]+)$/;
const KERNEL_THREAD = /^(kworker|ksoftirqd|migration|cpuhp|idle_inject|watchdog|rcu[a-z_]{0,20})\/[^]*$/;

/** Return the command or process that an instance of a stat is; null for threads, and for everything else. */
export function processOf(stat: Pick<StatInfo, "instance_title"> | null | undefined, instance: string): Named | null {
  if (stat?.instance_title === "command") {
    return instance === "" ? null : { command: instance, pid: null };
  }
  const [, pid, name] = stat?.instance_title === "process" ? (PROCESS.exec(instance) ?? []) : [];
  if (pid === undefined || name === undefined || pid.length > 9) {
    return null;
  }
  return { command: KERNEL_THREAD.exec(name)?.[1] ?? name, pid: Number(pid) };
}

/** Return the name of a process for people: `java (7900)`. */
export function processTitle({ command, pid }: Named): string {
  return pid === null ? command : `${command} (${String(pid)})`;
}

const QUANTITIES: Readonly<Record<string, string>> = {
  cpu: "CPU",
  cpu_user: "User",
  cpu_system: "System",
  cpu_wait: "CPU wait",
  lock_wait: "Lock wait",
  syscalls: "System calls",
  reads: "Reads",
  writes: "Writes",
  memory: "Memory",
  major_faults: "Major faults",
  minor_faults: "Minor faults",
  switches: "Switches",
  forced_switches: "Forced switches",
  threads: "Threads",
  processes: "Processes",
};

/** Return the heading of a column of the list. */
export function quantityTitle({ quantity, column }: Pick<ProcessField, "quantity" | "column">): string {
  return QUANTITIES[quantity] ?? column;
}

/** Return how many decimals a size is shown with: three digits are enough, and whole numbers need none. */
function decimalsOf(size: number): number {
  return Number.isInteger(size) || Math.abs(size) >= 100 ? 0 : Math.abs(size) >= 10 ? 1 : 2;
}

/** Return a value as people read it: 1.84 GiB/s; exact digits of small numbers. */
export function formatQuantity(value: number | null, unit: string): string {
  if (value === null) {
    return "–";
  }
  const { factor, unit: scaled, suffix } = scaleFor(unit, Math.abs(value));
  const size = value / factor;
  const decimals = decimalsOf(size);
  const named = scaled === "processes" || scaled === "threads" || scaled === "1/s" ? "" : scaled;
  return suffix === "" ? formatWithUnit(size, decimals, named) : `${formatValue(size, decimals)}${suffix}`;
}

/** Return a range in the unit of its upper end, said once: `0.2–0.6 %`; one value where both ends look the same. */
export function formatQuantityRange(low: number, high: number, unit: string): string {
  const last = formatQuantity(high, unit);
  const { factor, suffix } = scaleFor(unit, Math.abs(high));
  const size = low / factor;
  const first = formatValue(size, decimalsOf(size));
  return formatQuantity(low, unit) === last || last.startsWith(`${first}${suffix} `) ? last : `${first}–${last}`;
}

const GROUPS: readonly (readonly [string, string, readonly string[]])[] = [
  ["cpu", "CPU", ["cpu_pct", "usr_pct", "usr", "system_pct", "sys_pct", "sys", "wait_pct", "lat_pct", "lat"]],
  ["io", "Disk reads and writes", ["kb_rd_per_s", "kb_wr_per_s"]],
  ["memory", "Memory", ["rss_kb", "rss", "res"]],
  ["faults", "Page faults", ["minflt_per_s", "majflt_per_s"]],
  ["switches", "Context switches", ["cswch_per_s", "nvcswch_per_s", "vcx", "icx"]],
  ["threads", "Threads", ["threads", "nlwp", "nth", "thr"]],
  ["processes", "Processes", ["processes", "running", "blocked", "zombies"]],
];

/** Return the graphs of a process or command: one for each quantity of each stat that has series of it. */
export function processPanels(detail: Pick<ProcessDetail, "series">, stats: readonly StatInfo[]): readonly PanelPlan[] {
  return detail.series.flatMap(({ stat: name, instance, fields }) => {
    const stat = stats.find((known) => known.name === name);
    return stat === undefined ? [] : panelsOf(stat, instance, fields);
  });
}

function panelsOf(stat: StatInfo, instance: string, keys: readonly string[]): readonly PanelPlan[] {
  const known = new Map(stat.fields.filter(({ key }) => keys.includes(key)).map((field) => [field.key, field]));
  return GROUPS.flatMap(([group, title, wanted]) => {
    const all = wanted.map((key) => known.get(key)).filter((field): field is FieldInfo => field !== undefined);
    // A panel has one unit.
    const fields = all.filter(({ unit }) => unit === all[0]?.unit);
    return fields.length === 0
      ? []
      : [
          {
            id: `${stat.name}.process_${group}`,
            title,
            section: stat.title,
            stat,
            fields,
            unit: fields[0]?.unit ?? "",
            choice: { kind: "only", names: [instance] } as const,
            isChosen: true,
            isStacked: false,
            customIndex: null,
          },
        ];
  });
}

/** Return the panels by their section, in order. */
export function sectionsOf(plans: readonly PanelPlan[]): readonly (readonly [string, readonly PanelPlan[]])[] {
  const titles = [...new Set(plans.map(({ section }) => section))];
  return titles.map((title) => [title, plans.filter(({ section }) => section === title)] as const);
}

/** Return the last sample of any series. */
export function lastSampleOf({ series }: Pick<ProcessDetail, "series">): EpochMs | null {
  const times = series.map(({ last_sample_at }) => fromApi(last_sample_at));
  return times.length === 0 ? null : times.reduce((a, b) => (a > b ? a : b));
}

/** Return from its beginning to its end, as far as they are known, for a window of graphs: the window if nothing is known. */
export function lifeWindow(life: ProcessLife, shown: Window): Window {
  const start = life.facts.began_at === null ? fromApi(life.first_sample_at) : fromApi(life.facts.began_at);
  const end = fromApi(life.gone_at ?? life.last_seen_at ?? life.last_sample_at);
  return end > start ? { start, end } : shown;
}

/** A row of the table: a command, or a process under its command. */
export interface TableRow {
  readonly key: string;
  readonly process: ListedProcess;
  readonly isChild: boolean;
}

/** Return the rows of the table: the processes of the opened command come after it. */
export function tableRowsOf(
  commands: readonly ListedProcess[],
  open: string | null,
  children: readonly ListedProcess[],
): readonly TableRow[] {
  return commands.flatMap((process): readonly TableRow[] => {
    const own = { key: `c ${process.instance}`, process, isChild: false };
    return process.command !== open
      ? [own]
      : [own, ...children.map((child) => ({ key: `p ${child.instance}`, process: child, isChild: true }))];
  });
}

/** Return processes with most of a quantity first; in their order if their tool does not tell it. Those without a value come last. */
export function sortByQuantity(
  rows: readonly ListedProcess[],
  fields: readonly Pick<ProcessField, "quantity">[],
  quantity: string | null,
): readonly ListedProcess[] {
  const at = fields.findIndex((field) => field.quantity === quantity);
  const valueOf = (row: ListedProcess): number => row.mean[at] ?? Number.NEGATIVE_INFINITY;
  return at < 0 ? rows : [...rows].sort((a, b) => (valueOf(a) === valueOf(b) ? 0 : valueOf(b) - valueOf(a)));
}

/** Return which rows are on the screen, and some around them: [first, last). */
export function visibleRows(n: number, rowHeight: number, top: number, height: number, margin = 12): readonly [number, number] {
  const first = Math.max(0, Math.min(n, Math.floor(top / rowHeight) - margin));
  return [first, Math.min(n, Math.ceil((top + height) / rowHeight) + margin)];
}
