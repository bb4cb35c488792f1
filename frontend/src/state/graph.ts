/** The address of a graph of several hosts: `/graph?v=1&hosts=a,b,c&field=cpu.usr`. Pure. */

import { ACROSS, type Across, GRAPH_KINDS, type GraphKind, type HostRun, type Reduction, REDUCTIONS } from "../logic/host_lines";
import { DEFAULT_RANGE, MAX_LENGTH, MIN_LENGTH, type Range } from "../logic/range";
import { type DurationMs, formatDuration, HOUR, parseDuration, parseIso, toIso } from "../logic/time";
import { type Decoded, oneOf, type RawSearch, Reader, VERSION } from "./search";
import { decodeRange, encodeRange } from "./url";
import { type Clock, decodeClock, encodeClock } from "./zone_choice";

export interface GraphView {
  readonly clock: Clock;
  readonly range: Range;
  readonly hosts: readonly string[];
  /** The name of a host group, whose hosts are drawn too. */
  readonly group: string | null;
  /** A tag, whose hosts are drawn too. */
  readonly tag: string | null;
  /** `STAT.FIELD`, or the name of a meaning, a graph of each; empty for the usual one. */
  readonly metrics: readonly string[];
  /** The name of an instance, the same on all hosts. */
  readonly instance: string | null;
  readonly across: Across;
  /** How all hosts become one line; null for a line of each. */
  readonly over: Reduction | null;
  readonly kind: GraphKind;
  readonly top: number | null;
  /** Hosts with a start each, beside each other by elapsed time, instead of `hosts` and `range`. */
  readonly runs: readonly HostRun[];
  /** The length of the runs. */
  readonly length: DurationMs;
}

export const DEFAULT_GRAPH_VIEW: GraphView = {
  clock: "local",
  range: DEFAULT_RANGE,
  hosts: [],
  group: null,
  tag: null,
  metrics: [],
  instance: null,
  across: "usual",
  over: null,
  kind: "lines",
  top: null,
  runs: [],
  length: HOUR,
};

/** A page of more graphs is read by no one, and each is a request. */
export const MAX_METRICS = 60;

// Only commas need encoding here; the URL encodes the rest.
function encodeName(name: string): string {
  return name.replaceAll("%", "%25").replaceAll(",", "%2C");
}

function decodeName(text: string): string {
  return text.replaceAll("%2C", ",").replaceAll("%25", "%");
}

function parseHosts(text: string): readonly string[] | null {
  const names = text.split(",").map(decodeName);
  return names.every((name) => name !== "" && name.length <= 200) && names.length <= 500 ? names : null;
}

function parseName(text: string): string | null {
  return text !== "" && text.length <= 200 ? text : null;
}

function parseInstance(text: string): string | null {
  return text.length <= 1000 ? text : null;
}

function parseTop(text: string): number | null {
  return /^[1-9]\d{0,2}$/.test(text) && Number(text) <= 200 ? Number(text) : null;
}

function parseRun(text: string): HostRun | null {
  const at = text.lastIndexOf("@");
  const start = at <= 0 ? null : parseIso(text.slice(at + 1));
  return start === null ? null : { host: text.slice(0, at), start };
}

function parseLength(text: string): DurationMs | null {
  const length = parseDuration(text);
  return length !== null && length >= MIN_LENGTH && length <= MAX_LENGTH ? length : null;
}

export function encodeGraphView(view: GraphView): RawSearch {
  return {
    v: String(VERSION),
    ...(view.hosts.length === 0 ? {} : { hosts: view.hosts.map(encodeName).join(",") }),
    ...(view.group === null ? {} : { group: view.group }),
    ...(view.tag === null ? {} : { tag: view.tag }),
    ...(view.metrics.length === 0 ? {} : { field: [...view.metrics] }),
    ...(view.instance === null ? {} : { instance: view.instance }),
    ...(view.across === "usual" ? {} : { across: view.across }),
    ...(view.over === null ? {} : { over: view.over }),
    ...(view.kind === "lines" ? {} : { show: view.kind }),
    ...(view.top === null ? {} : { top: String(view.top) }),
    ...(view.runs.length === 0
      ? encodeRange(view.range)
      : { run: view.runs.map(({ host, start }) => `${host}@${toIso(start)}`), for: formatDuration(view.length) }),
    ...encodeClock(view.clock),
  };
}

export function decodeGraphView(raw: RawSearch): Decoded<GraphView> {
  const reader = new Reader(raw);
  return reader.finish({
    hosts: [...new Set(reader.all("hosts", parseHosts).flat())],
    group: reader.one("group", parseName),
    tag: reader.one("tag", parseName),
    metrics: [...new Set(reader.all("field", parseName))].slice(0, MAX_METRICS),
    instance: reader.one("instance", parseInstance),
    across: reader.one("across", oneOf(ACROSS)) ?? "usual",
    over: reader.one("over", oneOf(REDUCTIONS)),
    kind: reader.one("show", oneOf(GRAPH_KINDS)) ?? "lines",
    top: reader.one("top", parseTop),
    runs: reader.all("run", parseRun),
    length: reader.one("for", parseLength) ?? HOUR,
    range: decodeRange(reader),
    clock: decodeClock(reader),
  });
}
