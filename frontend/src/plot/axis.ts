/** The value axis of a panel: from its lines, or as the user chose it. Pure. */

import type { ByteUnit } from "../logic/look";
import { extremesOf } from "../logic/series";
import { type LabelledAxis, labelledAxis, logAxis } from "../logic/unit";
import type { Line, PanelInput } from "./figure";

type AxisEnds = Pick<PanelInput, "low" | "high" | "unit" | "bytes">;

const PIXELS_PER_VALUE_TICK = 38;

/** Return the lowest and highest value of the axis. */
function extentOf(lines: readonly Line[], isLevel: boolean): readonly [number, number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const { values } of lines) {
    const { lowest, highest } = extremesOf(values);
    low = Math.min(low, lowest ?? low);
    high = Math.max(high, highest ?? high);
  }
  if (low > high) {
    return [0, 1];
  }
  // Starting at zero, a level that varies by less than a third of itself would be a flat line.
  const isFlat = isLevel && low > 0 && high - low < high / 3 && high > low;
  return isFlat ? [low, high] : [Math.min(0, low), Math.max(0, high)];
}

/** Return the value axis; percentages close to 100 show the full range, and slightly more only if the tool printed more. */
export function valueAxisOf(
  lines: readonly Line[],
  unit: string,
  isPercent: boolean,
  isLevel: boolean,
  height: number,
  bytes: ByteUnit | null = null,
): LabelledAxis {
  const [low, high] = extentOf(lines, isLevel);
  const most = Math.max(2, Math.floor(height / PIXELS_PER_VALUE_TICK));
  if (isPercent && low >= 0 && high > 50 && high <= 120) {
    const axis = labelledAxis(0, 100, unit, most);
    return { ...axis, high: Math.max(axis.high, high) };
  }
  return labelledAxis(low, high, unit, most, bytes);
}

/** Return the axis of positive values by powers of ten. Missing: null if there are none. */
export function logAxisOf(lines: readonly Line[], unit: string, bytes: ByteUnit | null): LabelledAxis | null {
  let low = Number.POSITIVE_INFINITY;
  let high = 0;
  for (const { values } of lines) {
    for (const value of values) {
      if (value !== null && value > 0) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    }
  }
  return high > 0 ? logAxis(low, high, unit, bytes) : null;
}

/** Return an axis between ends that the user chose, with the labels of the whole. */
export function boundedAxis(axis: LabelledAxis, input: AxisEnds, height: number): LabelledAxis {
  const low = input.low ?? axis.low;
  const high = input.high ?? axis.high;
  if ((input.low === null && input.high === null) || low >= high) {
    return axis;
  }
  const most = Math.max(2, Math.floor(height / PIXELS_PER_VALUE_TICK));
  return { ...labelledAxis(low, high, input.unit, most, input.bytes), low, high };
}
