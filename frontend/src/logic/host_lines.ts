/** One metric of many hosts: decode the response, name its lines, and say in words what is drawn and what is not. */

import type { HostMetric, HostSeriesAnswer, HostSeriesLine } from "./api";
import { type Series, timesOf } from "./block";
import type { Columns, Distribution } from "./histogram";
import { formatCount, formatValue } from "./number";
import { extremesOf, lowerBound, typicalStep } from "./series";
import { describeDuration, type EpochMs, fromApi, lengthOf, toDurationMs, toEpochMs, toIso, type Window } from "./time";
import { ELAPSED, formatInstant, type Zone } from "./zone";
import { counted } from "./counted";

export const REDUCTIONS = ["sum", "avg", "min", "max", "p95"] as const;
export type Reduction = (typeof REDUCTIONS)[number];

/** How the instances of a host become lines: the metric's usual way, each a line, or a reduction. */
export const ACROSS = ["usual", "each", ...REDUCTIONS] as const;
export type Across = (typeof ACROSS)[number];

/** What the graph shows: all lines in one graph, a small graph for each, or a row of colours for each. */
export const GRAPH_KINDS = ["lines", "small", "heatmap"] as const;
export type GraphKind = (typeof GRAPH_KINDS)[number];

/** A host and where its line begins, for lines that are beside each other by elapsed time. */
export interface HostRun {
  readonly host: string;
  readonly start: EpochMs;
}

/** The line of a host, of one of its instances, or of all hosts (`host` empty). */
export interface HostLine extends Series {
  readonly key: string;
  readonly name: string;
  readonly host: string;
  readonly start: EpochMs | null;
  readonly column: string;
  readonly across: Reduction | null;
  readonly n_instances: number;
  readonly mean: number;
  /** The number of hosts at each point; null for the line of one host. */
  readonly n_hosts: readonly number[] | null;
}

export interface HostLines extends Omit<HostSeriesAnswer, "axes" | "lines"> {
  readonly lines: readonly HostLine[];
}

const REDUCTION_WORDS: Readonly<Record<Reduction, string>> = {
  sum: "sum",
  avg: "average",
  min: "minimum",
  max: "maximum",
  p95: "95th percentile",
};

/** Return a reduction as a word: `95th percentile`. */
export function reductionWord(how: Reduction): string {
  return REDUCTION_WORDS[how];
}

/** Return the response with times, values and names for each line. Raises: Error if a line does not fit its axis */
export function decodeHostLines({ axes, lines, ...rest }: HostSeriesAnswer, zone: Zone): HostLines {
  const times = axes.map(timesOf);
  const names = nameLines(lines, zone);
  return {
    ...rest,
    lines: lines.map(({ axis, start, ...line }, index) => {
      const own = times[axis];
      if (own?.length !== line.values.length) {
        throw new Error("Inconsistent response from the server. Reload the page; its version may be out of date");
      }
      return {
        ...line,
        key: `${line.host} ${start ?? ""} ${line.instance}`,
        name: names[index] ?? "",
        start: start === null ? null : fromApi(start),
        times: own,
        field: "value",
        unit: rest.metric?.unit ?? "",
      };
    }),
  };
}

/** Return the name of each line: the host, with its instance or start where hosts have several lines. */
function nameLines(lines: readonly HostSeriesLine[], zone: Zone): readonly string[] {
  const hosts = new Map<string, number>();
  for (const { host } of lines) {
    hosts.set(host, (hosts.get(host) ?? 0) + 1);
  }
  const instances = new Set(lines.map(({ instance }) => instance));
  return lines.map(({ host, start, instance, across, n_hosts }) => {
    if (n_hosts !== null) {
      return `${reductionWord(across ?? "sum")} of all hosts`;
    }
    const isOneOfSeveral = instances.size > 1 && (hosts.get(host) ?? 0) > 1;
    const named = isOneOfSeveral && instance !== "" ? `${host} ${instance}` : host;
    return start === null ? named : `${named}, from ${formatInstant(zone, fromApi(start))}`;
  });
}

/** Return where a line's numbers come from: `vmstat_linux.cpu_us`, `mpstat_solaris.usr_pct, average of 64 instances`. */
export function describeSource({ column, across, n_instances, instance, n_hosts }: HostLine): string {
  if (n_hosts !== null) {
    return n_instances === 1 ? "one series" : `${formatCount(n_instances)} series`;
  }
  if (across !== null) {
    return `${column}, ${reductionWord(across)} of ${counted(n_instances, "instance")}`;
  }
  return instance === "" ? column : `${column}, ${instance}`;
}

const SOURCES: Readonly<Record<HostSeriesAnswer["source"], string>> = {
  raw: "raw",
  rollup_minute: "from minutes",
  rollup_hour: "from hours",
  mixed: "from rollups and raw",
};

/** Return the line above a graph: how many of the hosts are drawn, how, and how many lines are not. */
export function describeHostLines(block: HostLines): string {
  const { n_asked, n_hosts, n_raw, n_points, n_lines_left_out, step_ms } = block;
  const asked = block.lines.some(({ start }) => start !== null) ? counted(n_asked, "run") : counted(n_asked, "host");
  const drawn = n_hosts === n_asked ? asked : `${formatCount(n_hosts)} of ${asked}`;
  const how =
    step_ms !== null
      ? `${counted(n_raw, "sample")} in steps of ${describeDuration(toDurationMs(step_ms))}`
      : block.resolution === "raw"
        ? `raw: all ${counted(n_raw, "sample")}`
        : `${SOURCES[block.source]}: ${formatCount(n_points)} of ${counted(n_raw, "sample")}, extremes of each pixel`;
  const left = n_lines_left_out === 0 ? "" : `; ${counted(n_lines_left_out, "line")} not drawn`;
  return `${drawn}; ${how}${left}`;
}

/** Return in how many steps of the line of all hosts fewer than all drawn hosts have samples; "" if in none. */
export function describeMissing(block: HostLines): string {
  const [total] = block.lines;
  const counts = total?.n_hosts?.filter((_, index) => (total.values[index] ?? null) !== null) ?? [];
  const nPartial = counts.filter((n) => n < block.n_hosts).length;
  if (nPartial === 0) {
    return "";
  }
  const fewest = Math.min(...counts);
  return `In ${formatCount(nPartial)} of ${counted(counts.length, "step")} some hosts have no samples and only the others are counted (at least ${formatCount(fewest)} of ${formatCount(block.n_hosts)}).`;
}

/** Return the number of hosts in the point at an instant; null outside of the points, and for the line of one host. */
export function hostsAt(line: HostLine, at: EpochMs, tolerance_ms: number): number | null {
  if (line.n_hosts === null) {
    return null;
  }
  const right = lowerBound(line.times, at);
  const near = [right - 1, right].filter((index) => Math.abs((line.times[index] ?? Infinity) - at) <= tolerance_ms);
  const best = near.sort((a, b) => Math.abs((line.times[a] ?? 0) - at) - Math.abs((line.times[b] ?? 0) - at))[0];
  return best === undefined || (line.values[best] ?? null) === null ? null : (line.n_hosts[best] ?? null);
}

/** Return the lines as rows of a heatmap, by name, so that rows stay in place while time moves. */
export function heatmapRows(block: HostLines): Distribution {
  const rows = block.lines.map((line) => ({ label: line.name, series: line }));
  const collator = new Intl.Collator("en", { numeric: true });
  // The first row is at the bottom.
  rows.sort((a, b) => collator.compare(b.label, a.label));
  return { key: block.metric?.key ?? "", buckets: rows };
}

/** Return the columns in which each host's points are; null where all samples are there and the width decides. */
export function heatmapColumns(block: HostLines, window: Window): Columns | null {
  const step_ms = block.step_ms ?? (block.resolution === "raw" ? null : block.column_ms);
  if (step_ms === null) {
    return null;
  }
  const start_ms = block.step_ms === null ? window.start : Math.floor(window.start / step_ms) * step_ms;
  return { start_ms, step_ms, n: Math.max(1, Math.ceil((window.end - start_ms) / step_ms)) };
}

/** Return the columns of a heatmap of samples: none is narrower than the longest interval of any host. */
export function sampleColumns(block: HostLines, window: Window, most: number): Columns {
  const longest = Math.max(0, ...block.lines.map((line) => typicalStep(line) ?? 0));
  const n = Math.max(1, longest === 0 ? most : Math.min(most, Math.floor(lengthOf(window) / longest)));
  return { start_ms: window.start, step_ms: lengthOf(window) / n, n };
}

/** Return the lowest and highest value of all lines, for graphs of one scale. */
export function sharedValues(block: HostLines): readonly (number | null)[] {
  return block.lines.flatMap(({ values }) => {
    const { lowest, highest } = extremesOf(values);
    return [lowest, highest];
  });
}

export const LINE_ORDERS = ["mean", "lowest", "highest", "last", "name"] as const;
export type LineOrder = (typeof LINE_ORDERS)[number];

/** A row of the table below the graph. */
export interface LineRow {
  readonly line: HostLine;
  readonly lowest: number | null;
  readonly highest: number | null;
  readonly last: number | null;
  readonly slot: number;
}

/** Return the rows of the table: the given order, numbers from the worst on (where less is worse, from the lowest). */
export function lineRows(block: HostLines, order: LineOrder): readonly LineRow[] {
  const rows = block.lines.map((line, slot) => ({ line, slot, ...extremesOf(line.values) }));
  const sign = block.metric?.worse === "lower" ? 1 : -1;
  const collator = new Intl.Collator("en", { numeric: true });
  const valueOf = (row: LineRow): number => (order === "name" ? 0 : order === "mean" ? row.line.mean : (row[order] ?? 0));
  return rows.sort((a, b) =>
    order === "name" ? collator.compare(a.line.name, b.line.name) : sign * (valueOf(a) - valueOf(b)) || a.slot - b.slot,
  );
}

/** Return a number of a line with the metric's unit: means have a digit more than the samples. */
export function formatOf(metric: Pick<HostMetric, "decimals" | "unit"> | null, value: number | null, extra = 0): string {
  const text = formatValue(value, (metric?.decimals ?? 2) + extra);
  return value === null || metric === null || metric.unit === "" ? text : `${text} ${metric.unit}`;
}

// --- export ---

function quoted(text: string): string {
  // A spreadsheet runs a cell that begins like a formula; the same rule as in backend/normstat/csv_cells.py.
  const isRun = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) && !/^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text);
  const safe = isRun ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * Return what is drawn as CSV: a row for each point, with the time (ISO 8601, or seconds since the start of each run), the line
 * and its value; gaps are left out.
 */
export function toCsv(block: HostLines): string {
  const isElapsed = block.lines.some(({ start }) => start !== null);
  const start = fromApi(block.start);
  const head = [isElapsed ? "elapsed_s" : "time", "host", "instance", "column", "value", "unit", "n_hosts"];
  const rows = block.lines.flatMap((line) =>
    line.values.flatMap((value, index) => {
      const time = toEpochMs(line.times[index] ?? 0);
      if (value === null) {
        return [];
      }
      const at = isElapsed ? String((time - start) / 1000) : toIso(time);
      const of = line.n_hosts === null ? "" : String(line.n_hosts[index] ?? "");
      const host = line.n_hosts === null ? (line.start === null ? line.host : `${line.host}@${toIso(line.start)}`) : line.name;
      return [[at, host, line.instance, line.column, String(value), line.unit, of].map(quoted).join(",")];
    }),
  );
  return `${[head.join(","), ...rows].join("\r\n")}\r\n`;
}

/** Return a metric for a menu: `CPU time of programs (%), 3 hosts`. */
export function metricLabel({ title, unit, n_hosts }: HostMetric, nAsked: number): string {
  const named = title.endsWith(")") || unit === "" ? title : `${title} (${unit})`;
  return n_hosts === nAsked ? named : `${named}, ${formatCount(n_hosts)} of ${counted(nAsked, "host")}`;
}

export interface MetricGroup {
  readonly group: string;
  readonly items: readonly { readonly value: string; readonly label: string }[];
}

/** Return the metrics for a searchable menu: quantities of all systems first, then by stat; what most hosts have comes first. */
export function metricOptions(metrics: readonly HostMetric[], nAsked: number): readonly MetricGroup[] {
  const groups = new Map<string, HostMetric[]>();
  for (const metric of metrics) {
    const own = groups.get(metric.group) ?? [];
    own.push(metric);
    groups.set(metric.group, own);
  }
  return [...groups].map(([group, own]) => ({
    group: group === "" ? "The same on every system" : group,
    items: own.sort((a, b) => b.n_hosts - a.n_hosts).map((metric) => ({ value: metric.key, label: metricLabel(metric, nAsked) })),
  }));
}

/** Return the metric that a link without one opens on: the first that all hosts have, or else that most have. */
export function usualMetric(metrics: readonly HostMetric[]): string | null {
  const most = Math.max(0, ...metrics.map(({ n_hosts }) => n_hosts));
  return metrics.find(({ n_hosts }) => n_hosts === most)?.key ?? null;
}

/** Return the runs moved by a zoom into a window of elapsed time. */
export function zoomRuns(runs: readonly HostRun[], window: Window): readonly HostRun[] {
  return runs.map(({ host, start }) => ({ host, start: toEpochMs(start + window.start) }));
}

/** Return the zone in which the times of a graph are written. */
export function zoneOfGraph(isElapsed: boolean, zone: Zone): Zone {
  return isElapsed ? ELAPSED : zone;
}
