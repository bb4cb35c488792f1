/** Two series over each other in a small drawing, each on its own scale: what counts is when they move, and in which direction. */

import { extremesOf, piecesOf } from "./series";

export const WIDTH = 240;
export const HEIGHT = 44;
const MARGIN = 2;

/** Return a line from left to right over the whole box as an SVG path; a flat line is in the middle, and gaps stay open. */
export function linePath(values: readonly (number | null)[]): string {
  const { lowest, highest } = extremesOf(values);
  if (lowest === null || highest === null) {
    return "";
  }
  const range = highest - lowest;
  const step = WIDTH / Math.max(1, values.length - 1);
  const yOf = (value: number): number =>
    range === 0 ? HEIGHT / 2 : HEIGHT - MARGIN - ((value - lowest) / range) * (HEIGHT - 2 * MARGIN);
  return piecesOf(values)
    .map(([from, to]) => {
      const points = values.slice(from, to).map((value, at) => `${round((from + at) * step)} ${round(yOf(value ?? 0))}`);
      // A single value is a dot: a line of no length with round ends.
      return `M${points.length === 1 ? `${points[0] ?? ""}L${points[0] ?? ""}` : points.join("L")}`;
    })
    .join("");
}

/** Return where a window begins and how wide it is in the box, in its units. */
export function shareOf(
  { start, end }: { readonly start: number; readonly end: number },
  starts: readonly number[],
  step_ms: number,
): { readonly x: number; readonly width: number } {
  const from = starts[0] ?? start;
  const whole = Math.max(1, starts.length * step_ms);
  const x = Math.max(0, Math.min(1, (start - from) / whole));
  return { x: x * WIDTH, width: Math.max(0, Math.min(1, (end - from) / whole) - x) * WIDTH };
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}
