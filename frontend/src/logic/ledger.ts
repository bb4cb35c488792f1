/** The ledger of a comparison on the page: what each resource took, what is normal of it, and who took it. */

import type { Comparison, DrawnTotal, LedgerLine, LedgerPart, SideValues, SparklineColumns, Story } from "./api";
import { formatValue } from "./number";
import { type DurationMs, toDurationMs, toEpochMs, type Window } from "./time";
import { scaleFor } from "./unit";

const ledgerUsed = (amount: string) => `${amount} of a CPU`;

const ledgerRead = (amount: string) => `read ${amount}`;

const ledgerWrote = (amount: string) => `wrote ${amount}`;

const ledgerWaited = (amount: string) => `waited for a disk ${amount} of the time`;

const ledgerBlocked = (amount: string) => `blocked ${amount}`;
const ledgerKept = (amount: string) => `kept the GPU busy ${amount} of the time`;

const ledgerChildren = (amount: string) => `short-lived children: ${amount} of a CPU`;

/** Of a bar whose end is not known, beyond what is drawn. */
const HEADROOM = 1.15;
const MAX_DIGITS = 3;
/** Windows of a baseline that are told. */
const MAX_FAR = 2;

export function isNormal({ certainty }: Pick<LedgerLine, "certainty">): boolean {
  return certainty === "nothing";
}

const RESOURCES: Readonly<Record<LedgerLine["resource"], string>> = {
  cpu: "CPU",
  memory: "Memory",
  disk: "Disk",
  network: "Network",
  processes: "New processes",
  gpu: "GPU",
  throttling: "Throttled",
  database: "Sessions of",
  memory_limit: "Memory limit",
};

/** Of these a line is about one device or unit. */
const OF_ONE: ReadonlySet<LedgerLine["resource"]> = new Set(["disk", "network", "throttling", "memory_limit"]);

/** Return the name of a resource: `Disk`, with that of the device: `vda`. */
export function resourceOf({ resource, instance, name }: LedgerLine): { readonly title: string; readonly device: string } {
  if (resource === "gpu") {
    return { title: name, device: "" };
  }
  return { title: RESOURCES[resource], device: resource === "database" ? name : OF_ONE.has(resource) ? instance : "" };
}

/** Return the name of what a line counts: `CPU`, `Disk vda`. */
export function lineTitle(line: LedgerLine): string {
  const { title, device } = resourceOf(line);
  return device === "" ? title : `${title} ${device}`;
}

const CERTAINTIES: Readonly<Record<LedgerLine["certainty"], string>> = { sure: "sure", likely: "likely", nothing: "as normal" };

export function certaintyOf({ certainty }: Pick<LedgerLine, "certainty">): string {
  return CERTAINTIES[certainty];
}

/** Return an amount as in the server's sentences: three digits, two of a percentage. */
export function formatAmount(value: number, unit: string): string {
  const { factor, unit: scaled, suffix } = scaleFor(unit, Math.abs(value));
  const size = value / factor;
  const digits = unit === "%" ? 2 : MAX_DIGITS;
  const decimals = size === 0 ? 0 : Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(size))));
  const rounded = Number(size.toFixed(Math.min(decimals, unit === "%" ? 1 : MAX_DIGITS)));
  const shown = formatValue(rounded, decimalsOf(rounded)) + suffix;
  return scaled === "" || scaled === "1" ? shown : `${shown}${scaled.startsWith("1/") ? scaled.slice(1) : ` ${scaled}`}`;
}

function decimalsOf(value: number): number {
  return /\.(\d+)$/.exec(String(value))?.[1]?.length ?? 0;
}

/** Return a range; a unit that both ends share is said once: `12 to 19 %`. */
function formatRange(low: number, high: number, unit: string): string {
  const [first, last] = [formatAmount(low, unit), formatAmount(high, unit)];
  return first === last ? last : `${withoutSharedUnit(first, last, low)} to ${last}`;
}

/** Return an amount without the unit that the other one has, too. */
function withoutSharedUnit(amount: string, other: string, value: number): string {
  const [, number = amount, unit = ""] = /^([^ /]+)(.*)$/.exec(amount) ?? [];
  return value === 0 || other.endsWith(unit) ? number : amount;
}

interface Measure {
  readonly factor: number;
  readonly unit: string;
}

/** Return how a total is shown: CPU time as a part of all CPUs. */
function measureOf({ resource, unit, capacity }: LedgerLine): Measure {
  if (resource === "cpu" && capacity !== null) {
    return { factor: 100 / capacity, unit: "%" };
  }
  if (resource === "memory_limit") {
    return { factor: 1, unit: unit === "1/min" ? "killed/min" : "times/s" };
  }
  return { factor: 1, unit: resource === "disk" && unit === "1/s" ? "requests/s" : unit };
}

/** Return how a part is shown. CPU time is that of one CPU, as in the sentences: a process that keeps one of 64 busy uses 100 %. */
function measureOfPart({ quantity, unit }: LedgerPart): Measure {
  // Of one process that waited half of the time: 0.5.
  return quantity === "blocked" ? { factor: 100, unit: "%" } : { factor: 1, unit };
}

/** A total as it is drawn, in the unit that its sentence has. */
export interface DrawnLine extends Measured {
  readonly unit: string;
}

type Measured = Pick<DrawnTotal, "baseline" | "incident" | "sparkline">;

/** Return the line of the ledger whose sentence leads a story. Missing: null where none does. */
export function leadingLine(
  { hosts, resource }: Pick<Story, "hosts" | "resource">,
  ledger: Comparison["ledger"],
): LedgerLine | null {
  return (ledger ?? []).find((line) => line.host === hosts[0] && line.resource === resource && !isNormal(line)) ?? null;
}

/** Return the graph of a line in the measure of its sentence. Missing: null where the server drew none. */
export function drawnLine(line: LedgerLine): DrawnLine | null {
  if (line.drawn == null) {
    return null;
  }
  const { factor, unit } = measureOf(line);
  const scaled = <T extends number | null>(value: T): T => (value === null ? value : ((value * factor) as T));
  const side = (values: SideValues): SideValues => ({
    n: values.n,
    mean: scaled(values.mean),
    median: scaled(values.median),
    p5: scaled(values.p5),
    p95: scaled(values.p95),
    p99: scaled(values.p99),
    lowest: scaled(values.lowest),
    highest: scaled(values.highest),
    quantiles: values.quantiles?.map(scaled) ?? null,
  });
  const columns = ({ low, high }: SparklineColumns): SparklineColumns => ({ low: low.map(scaled), high: high.map(scaled) });
  const { baseline, incident, sparkline } = line.drawn;
  return {
    baseline: side(baseline),
    incident: side(incident),
    sparkline: {
      ...sparkline,
      ...columns(sparkline),
      baseline: sparkline.baseline === null ? null : columns(sparkline.baseline),
    },
    unit,
  };
}

/** Return what was used: `98 %`, `1.3 of 23.6 GiB`. */
export function describeNow(line: LedgerLine): string {
  const { factor, unit } = measureOf(line);
  const now = formatAmount(factor * line.incident, unit);
  if (line.resource !== "memory" || line.capacity === null) {
    return now;
  }
  const whole = formatAmount(line.capacity, unit);
  return `${withoutSharedUnit(now, whole, line.incident)} of ${whole}`;
}

export function describeNormal(line: LedgerLine): string {
  const { factor, unit } = measureOf(line);
  return formatRange(factor * line.low, factor * line.high, unit);
}

/** Where the normal range and the amount lie on a bar, in per cent of its length. */
export interface Bar {
  readonly low: number;
  readonly width: number;
  readonly now: number;
  /** Whether its end is the capacity. */
  readonly isWhole: boolean;
}

export function barOf({ capacity, low, high, incident }: LedgerLine): Bar {
  const whole = capacity ?? HEADROOM * Math.max(high, incident);
  const place = (value: number): number => (whole > 0 ? Math.min(100, Math.max(0, (100 * value) / whole)) : 0);
  return { low: place(low), width: place(high) - place(low), now: place(incident), isWhole: capacity !== null };
}

/** Return who made the change of a line, as its sentence names them. Empty: none was seen, or there is none. */
export function culpritsOf(line: LedgerLine): readonly LedgerPart[] {
  return isNormal(line) ? [] : [...line.units, ...line.parts].filter(({ is_culprit }) => is_culprit);
}

/** Return an amount of a part: `98 % of a CPU`, `wrote 1.81 GiB/s`. */
export function describeAmount(part: LedgerPart, value: number): string {
  const { factor, unit } = measureOfPart(part);
  return QUANTITIES[part.quantity](formatAmount(factor * value, unit));
}

const QUANTITIES: Readonly<Record<LedgerPart["quantity"], (amount: string) => string>> = {
  cpu: ledgerUsed,
  memory: (amount) => amount,
  read: ledgerRead,
  written: ledgerWrote,
  blocked: ledgerWaited,
  children: ledgerChildren,
  statement: (amount) => amount,
  blocking: ledgerBlocked,
  gpu: ledgerKept,
};

/** Return what a part took: `98 % of a CPU`; of one that is gone what it took before. */
export function describeTaken(part: LedgerPart): string {
  return part.is_gone ? `${describeAmount(part, part.baseline)} in the baseline` : describeAmount(part, part.incident);
}

/** Return the normal range of a part. */
export function describePartNormal(part: LedgerPart): string {
  const { factor, unit } = measureOfPart(part);
  return formatRange(factor * part.low, factor * part.high, unit);
}

/** Return the change of a part: `+85 %`. */
export function describeChange(part: LedgerPart): string {
  const { factor, unit } = measureOfPart(part);
  const text = formatAmount(factor * part.change, unit);
  return part.change > 0 ? `+${text}` : text;
}

/** Return which part of the change it made: `97 % of the rise`. Empty where that is not known. */
export function describeShare({ share, change, quantity }: LedgerPart): string {
  if (share === null || quantity === "children" || quantity === "blocked" || quantity === "blocking") {
    return "";
  }
  const text = formatAmount(100 * share, "%");
  return change > 0 ? `${text} of the rise` : `${text} of the fall`;
}

/** Return the sentence of a line without a named process. */
export function describeUnseen(line: LedgerLine): string {
  if (line.note !== "") {
    return line.note;
  }
  if (line.remainder === null && line.parts.length === 0) {
    // No tool that is read tells whose traffic it was.
    return isNormal(line) && line.resource !== "network"
      ? "No recorded process took much more or less"
      : "No recorded tool shows who";
  }
  return describeRemainder(line);
}

/** Return the name of a part: what the server calls it, but for those that are no names. */
export function nameOf(line: LedgerLine, { kind, name }: LedgerPart): string {
  return kind === "others" ? "Others" : kind === "remainder" ? describeRemainder(line) : name;
}

/** Return the name of what no part explains. */
function describeRemainder({ resource }: LedgerLine): string {
  return resource === "memory"
    ? "Not seen: the kernel, and processes that were not recorded"
    : resource === "cpu"
      ? "Not seen: processes too short to be sampled, the kernel"
      : "Not seen";
}

/** The parts of a line: each unit with its processes, then those of no unit that is listed. */
export interface PartTree {
  readonly units: readonly { readonly unit: LedgerPart; readonly parts: readonly LedgerPart[] }[];
  readonly others: readonly LedgerPart[];
}

export function partTree({ parts, units, remainder }: LedgerLine): PartTree {
  const isOf = (part: LedgerPart, unit: LedgerPart) => part.of_unit === unit.name && part.quantity === unit.quantity;
  const own = remainder === null ? parts : [...parts, remainder];
  return {
    units: units.map((unit) => ({ unit, parts: own.filter((part) => isOf(part, unit)) })),
    others: own.filter((part) => !units.some((unit) => isOf(part, unit))),
  };
}

/** Return why a line is sure, likely or as normal. */
export function describeReason(line: LedgerLine): string {
  const { ratio, weight, capacity, is_full, outside } = line;
  if (ratio < 1) {
    return outside === 0 ? "within its normal range." : "no farther outside its normal range than a normal window goes.";
  }
  const times = `${formatValue(ratio, ratio < 10 ? 1 : 0)} times as far outside its normal range as a normal window goes`;
  const part =
    capacity === null || is_full ? "" : `; ${formatAmount(100 * weight, "%")} of the capacity is more or less than normal`;
  return `${times}${part}.`;
}

/** The means of the baseline's windows and of the incident, as places on a strip, 0 to 1. */
export interface WindowStrip {
  readonly windows: readonly number[];
  readonly incident: number;
  readonly low: number;
  readonly high: number;
}

/** Return the strip of a total or a part. Null where all are the same: there is nothing to see. */
export function stripOf({
  windows,
  incident,
  low,
  high,
}: Pick<LedgerPart, "windows" | "incident" | "low" | "high">): WindowStrip | null {
  const all = [...windows, incident];
  const [least, most] = [Math.min(...all), Math.max(...all)];
  if (most <= least || windows.length === 0) {
    return null;
  }
  const place = (value: number): number => Math.min(1, Math.max(0, (value - least) / (most - least)));
  return { windows: windows.map(place), incident: place(incident), low: place(low), high: place(high) };
}

/** A window of the baseline, with what was used in it. */
export interface FarWindow {
  readonly window: Window;
  readonly amount: string;
}

/** Return the length of the windows of a line's baseline, in whole seconds. */
export function windowLength({ window_s }: Pick<LedgerLine, "window_s">): DurationMs {
  return toDurationMs(1000 * Math.round(window_s));
}

/** Return the windows of the baseline that are farthest from its middle, the farthest first. */
export function farthestWindows(line: LedgerLine): readonly FarWindow[] {
  const { factor, unit } = measureOf(line);
  const ordered = [...line.windows].sort((one, other) => one - other);
  const middle = ordered[Math.floor(ordered.length / 2)] ?? 0;
  return line.windows
    .map((value, at) => ({ value, start: line.window_starts_ms[at] ?? 0 }))
    .sort((one, other) => Math.abs(other.value - middle) - Math.abs(one.value - middle))
    .slice(0, MAX_FAR)
    .map(({ value, start }) => ({
      window: { start: toEpochMs(start), end: toEpochMs(start + 1000 * line.window_s) },
      amount: formatAmount(factor * value, unit),
    }));
}
