/** Values of stacks as text. */

import { formatCount, formatShare, formatValue } from "./number";
import { scaleFor } from "./unit";

/** What weighs stacks. */
export interface FlameColumn {
  readonly title: string;
  readonly unit: string;
}

/** Return an amount with its unit, or with what is counted: `12.3 s`, `4,711 samples`. */
export function formatAmount(value: number, { title, unit }: FlameColumn): string {
  if (unit === "") {
    return `${Number.isInteger(value) ? formatCount(value) : formatValue(value, 2)} ${title}`;
  }
  const scale = scaleFor(unit, Math.abs(value));
  const scaled = value / scale.factor;
  const decimals = scale.factor === 1 && Number.isInteger(value) ? 0 : Math.abs(scaled) < 10 ? 2 : 1;
  return `${formatValue(scaled, decimals)}${scale.suffix} ${scale.unit}`;
}

/** Return a change with its sign: `+12.3 s`, `−4 samples`, `±0 samples`. */
export function formatChange(value: number, column: FlameColumn): string {
  const text = formatAmount(Math.abs(value), column);
  return value > 0 ? `+${text}` : value < 0 ? `−${text}` : `±${text}`;
}

/** Return a share as text. Missing: an en dash of nothing. */
export function formatPart(value: number, whole: number): string {
  return whole > 0 ? formatShare(value / whole) : "–";
}

const SECONDS: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 };

/** Return a time as share of a duration in seconds. Missing: null where the unit is no time, or the duration is unknown. */
export function timeShare(value: number, unit: string, duration: number | null): number | null {
  const size = SECONDS[unit];
  return size === undefined || duration === null || duration <= 0 ? null : (value * size) / duration;
}
