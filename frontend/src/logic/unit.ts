/**
 * Axis units: one scale for the whole axis keeps labels short (`MiB/s` rather than 120,000 `KiB/s`).
 * KiB, MiB and GiB are powers of 1024 bytes, kB, MB and GB powers of 1000, as in the server's runtime/units.py.
 */

import type { ByteUnit } from "./look";
import { formatValue } from "./number";
import { type ValueAxis, valueAxis } from "./ticks";

const DECIMAL_BYTES: readonly (readonly [string, number])[] = [
  ["B", 1],
  ["kB", 1e3],
  ["MB", 1e6],
  ["GB", 1e9],
  ["TB", 1e12],
  ["PB", 1e15],
];
const BINARY_BYTES: readonly (readonly [string, number])[] = [
  ["B", 1],
  ["KiB", 2 ** 10],
  ["MiB", 2 ** 20],
  ["GiB", 2 ** 30],
  ["TiB", 2 ** 40],
  ["PiB", 2 ** 50],
];
const TIMES: readonly (readonly [string, number])[] = [
  ["ns", 1e-9],
  ["us", 1e-6],
  ["ms", 1e-3],
  ["s", 1],
];
const PLAIN: readonly (readonly [string, number])[] = [
  ["", 1],
  ["k", 1e3],
  ["M", 1e6],
  ["G", 1e9],
  ["T", 1e12],
];

export interface Scale {
  /** The number of source units in one unit of the axis. */
  readonly factor: number;
  readonly unit: string;
  /** The suffix of each tick label, such as `k` or `M`; empty if the unit has the prefix. */
  readonly suffix: string;
}

function familyOf(base: string): readonly (readonly [string, number])[] | null {
  return [BINARY_BYTES, DECIMAL_BYTES, TIMES].find((family) => family.some(([name]) => name === base)) ?? null;
}

// Numbers that stand for states of the SE toolkit, as in the server's runtime/units.py.
const STATE = "state";
const STATES: readonly string[] = ["white", "blue", "green", "amber", "red", "black"];

/** Return whether numbers of this unit stand for states. */
export function isState(unit: string): boolean {
  return unit === STATE;
}

/** Return the name of a state. Missing: null for a number between two */
export function nameState(value: number): string | null {
  return STATES[value] ?? null;
}

// More labels of a logarithmic axis do not fit the height of a panel.
const MAX_DECADES = 6;

/** The numbers as they are. */
export const PLAIN_SCALE: Scale = { factor: 1, unit: "", suffix: "" };

/** Return the scale in which the largest value has one to three digits (four for percentages and small numbers). */
export function scaleFor(unit: string, largest: number, bytes: ByteUnit | null = null): Scale {
  const [given = "", ...rest] = unit.split("/");
  const base = given === "bytes" ? "B" : given;
  const per = rest.length > 0 ? `/${rest.join("/")}` : "";
  const printed = base === "B" ? DECIMAL_BYTES : familyOf(base);
  const own = printed?.find(([name]) => name === base)?.[1] ?? 1;
  const family = bytes === null || !isBytes(unit) ? printed : bytes === "binary" ? BINARY_BYTES : DECIMAL_BYTES;
  const members = family ?? PLAIN;
  if (!Number.isFinite(largest) || largest <= 0 || unit === "%" || (family === null && largest < 10_000)) {
    return { factor: 1, unit, suffix: "" };
  }
  const inBase = largest * own;
  const [name, size] = members.filter(([, each]) => inBase / each >= 1).at(-1) ?? members[0] ?? ["", 1];
  // Values slightly above one read better one step lower: 1,200 kB/s, not 1.2 MB/s.
  const factor = size / own;
  return family === null ? { factor, unit, suffix: name } : { factor, unit: `${name}${per}`, suffix: "" };
}

/** Return a logarithmic axis: ticks at powers of ten, and at their double and fivefold where there are few. */
export function logAxis(low: number, high: number, unit: string, bytes: ByteUnit | null = null): LabelledAxis {
  const scale = scaleFor(unit, high, bytes);
  const first = Math.floor(Math.log10(low / scale.factor) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(high / scale.factor) - 1e-9));
  const steps = last - first <= 2 ? [1, 2, 5] : [1];
  const powers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const every = Math.ceil(powers.length / MAX_DECADES);
  const ticks = powers
    .filter((_, index) => index % every === 0)
    .flatMap((power) => (power === last ? [10 ** power] : steps.map((step) => step * 10 ** power)));
  return {
    low: 10 ** first * scale.factor,
    high: 10 ** last * scale.factor,
    ticks: ticks.map((tick) => tick * scale.factor),
    decimals: Math.max(0, -first),
    labels: ticks.map((tick) => formatValue(tick, Math.max(0, Math.ceil(-Math.log10(tick) - 1e-9))) + scale.suffix),
    unit: scale.unit,
    scale,
  };
}

export interface LabelledAxis extends ValueAxis {
  readonly labels: readonly string[];
  readonly unit: string;
  readonly scale: Scale;
}

/** Return whether a unit counts bytes, so that it can be shown in powers of 1000 or of 1024. */
export function isBytes(unit: string): boolean {
  const [base = ""] = unit.split("/");
  return base === "bytes" || [BINARY_BYTES, DECIMAL_BYTES].some((family) => family.some(([name]) => name === base));
}

/** Return an axis in the source unit with labels in the scaled unit. */
export function labelledAxis(low: number, high: number, unit: string, most: number, bytes: ByteUnit | null = null): LabelledAxis {
  const scale = scaleFor(unit, Math.max(Math.abs(low), Math.abs(high)), bytes);
  if (isState(unit)) {
    const ticks = STATES.map((_, place) => place);
    return { low: 0, high: STATES.length - 1, ticks, decimals: 0, labels: STATES, unit, scale };
  }
  const axis = valueAxis(low / scale.factor, high / scale.factor, most);
  return {
    low: axis.low * scale.factor,
    high: axis.high * scale.factor,
    ticks: axis.ticks.map((tick) => tick * scale.factor),
    decimals: axis.decimals,
    labels: axis.ticks.map((tick) => formatValue(tick, axis.decimals) + (tick === 0 ? "" : scale.suffix)),
    unit: scale.unit,
    scale,
  };
}
