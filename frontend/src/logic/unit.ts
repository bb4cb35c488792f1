/**
 * Axis units: one scale for the whole axis keeps labels short (`MiB/s` rather than 120,000 `KiB/s`).
 * KiB, MiB and GiB are powers of 1024 bytes, kB, MB and GB powers of 1000, as in the server's stats/units.py.
 */

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

/** Return the scale in which the largest value has one to three digits (four for percentages and small numbers). */
export function scaleFor(unit: string, largest: number): Scale {
  const [given = "", ...rest] = unit.split("/");
  const base = given === "bytes" ? "B" : given;
  const per = rest.length > 0 ? `/${rest.join("/")}` : "";
  const family = base === "B" ? DECIMAL_BYTES : familyOf(base);
  const members = family ?? PLAIN;
  const own = family?.find(([name]) => name === base)?.[1] ?? 1;
  if (!Number.isFinite(largest) || largest <= 0 || unit === "%" || (family === null && largest < 10_000)) {
    return { factor: 1, unit, suffix: "" };
  }
  const inBase = largest * own;
  const [name, size] = members.filter(([, each]) => inBase / each >= 1).at(-1) ?? members[0] ?? ["", 1];
  // Values slightly above one read better one step lower: 1,200 kB/s, not 1.2 MB/s.
  const factor = size / own;
  return family === null ? { factor, unit, suffix: name } : { factor, unit: `${name}${per}`, suffix: "" };
}

export interface LabelledAxis extends ValueAxis {
  readonly labels: readonly string[];
  readonly unit: string;
}

/** Return an axis in the source unit with labels in the scaled unit. */
export function labelledAxis(low: number, high: number, unit: string, most: number): LabelledAxis {
  const scale = scaleFor(unit, Math.max(Math.abs(low), Math.abs(high)));
  const axis = valueAxis(low / scale.factor, high / scale.factor, most);
  return {
    low: axis.low * scale.factor,
    high: axis.high * scale.factor,
    ticks: axis.ticks.map((tick) => tick * scale.factor),
    decimals: axis.decimals,
    labels: axis.ticks.map((tick) => formatValue(tick, axis.decimals) + (tick === 0 ? "" : scale.suffix)),
    unit: scale.unit,
  };
}
