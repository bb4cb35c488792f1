/** The ticks of an axis and their labels. */

import type { Margins } from "./surface";
import { DAY, type EpochMs, HOUR, MINUTE, SECOND, type Window } from "./time";
import { ELAPSED, fromWall, toWall, type Zone } from "./zone";

export interface TimeTick {
  readonly at: EpochMs;
  readonly label: string;
}

const STEPS: readonly number[] = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  SECOND,
  2 * SECOND,
  5 * SECOND,
  10 * SECOND,
  15 * SECOND,
  30 * SECOND,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  7 * DAY,
  14 * DAY,
  28 * DAY,
  91 * DAY,
  364 * DAY,
];

function stepFor(length: number, most: number): number {
  return STEPS.find((step) => length / step <= most) ?? 3640 * DAY;
}

/**
 * Return round local times inside the window, at most about `most`. Midnights are labelled with the date, and
 * so is the first tick if there is room.
 */
export function timeTicks(window: Window, most: number, zone: Zone): readonly TimeTick[] {
  const step = stepFor(window.end - window.start, Math.max(2, most));
  const ticks: TimeTick[] = [];
  const first = toWall(zone, window.start);
  const last = toWall(zone, window.end);
  for (let wall = Math.ceil(first / step) * step; wall <= last + HOUR; wall += step) {
    const at = fromWall(zone, wall);
    const previous = ticks.at(-1);
    // The label of the end of an elapsed time would be cut.
    const isInside = at >= window.start && (zone === ELAPSED ? at < window.end : at <= window.end);
    if (isInside && (previous === undefined || at > previous.at)) {
      ticks.push({ at, label: zone === ELAPSED ? elapsedLabel(wall, step) : labelOf(wall, step) });
    }
  }
  return ticks;
}

// Of the 11 px font of all time labels; a bit more than its digits take.
const CHARACTER_PX = 6.5;

/**
 * Return the ticks of a time axis, about one for each `perTick_px`. A label that would stick out of the graph is left empty:
 * half a time is read as another time.
 */
export function labelledTicks(
  window: Window,
  zone: Zone,
  perTick_px: number,
  width: number,
  { left, right }: Pick<Margins, "left" | "right">,
): readonly TimeTick[] {
  const inner = Math.max(1, width - left - right);
  return timeTicks(window, inner / perTick_px, zone).map((tick) => {
    const x = (inner * (tick.at - window.start)) / (window.end - window.start);
    const half = (tick.label.length * CHARACTER_PX) / 2;
    return x - half < -left || x + half > inner + right ? { ...tick, label: "" } : tick;
  });
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function labelOf(wall: number, step: number): string {
  const text = new Date(wall).toISOString();
  if (wall % DAY === 0) {
    const day = `${MONTHS[Number(text.slice(5, 7)) - 1] ?? ""} ${String(Number(text.slice(8, 10)))}`;
    return step >= 91 * DAY ? text.slice(0, 7) : day;
  }
  if (step >= MINUTE) {
    return text.slice(11, 16);
  }
  return step >= SECOND ? text.slice(11, 19) : text.slice(14, 23);
}

/** Return a length since the start: `0:30`, `1:30:00`, or `2 d 12:00`. */
function elapsedLabel(length: number, step: number): string {
  const two = (n: number): string => String(Math.floor(n)).padStart(2, "0");
  const days = Math.floor(length / DAY);
  const [hours, minutes, seconds] = [(length % DAY) / HOUR, (length % HOUR) / MINUTE, (length % MINUTE) / SECOND];
  if (step >= DAY) {
    return `${String(days)} d`;
  }
  const day = days === 0 ? "" : `${String(days)} d `;
  const clock = `${day === "" ? String(Math.floor(hours)) : two(hours)}:${two(minutes)}`;
  return step >= MINUTE
    ? `${day}${clock}`
    : `${day}${clock}:${step >= SECOND ? two(seconds) : seconds.toFixed(3).padStart(6, "0")}`;
}

export interface ValueAxis {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly number[];
  /** Return the number of decimals that distinguish neighbouring ticks. */
  readonly decimals: number;
}

/** Return round numbers around [low, high], about `most` of them. */
export function valueAxis(low: number, high: number, most: number): ValueAxis {
  const span = high > low ? high - low : Math.abs(high) > 0 ? Math.abs(high) : 1;
  const rough = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10) * power;
  const decimals = Math.min(12, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  const from = Math.floor(low / step + 1e-9);
  const to = Math.max(from + 1, Math.ceil(high / step - 1e-9));
  const ticks: number[] = [];
  for (let index = from; index <= to; index += 1) {
    ticks.push(Number((index * step).toFixed(decimals)));
  }
  return { low: from * step, high: to * step, ticks, decimals };
}
