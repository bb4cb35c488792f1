/** Times and shapes of the log of a trace. Instants are texts of digits or bigint: numbers would round them. */

import type { LogLane } from "./api";

const NS = 1_000_000_000n;
export const LANE_PX = 22;
const STEPS = [1, 2, 5];

/** Return an instant of a log as its clock shows it. */
export function printLogTime(ns: string, clock: string, decimals: number): string {
  const at = BigInt(ns);
  const seconds = at / NS;
  const fraction =
    decimals === 0
      ? ""
      : `.${String(at % NS)
          .padStart(9, "0")
          .slice(0, decimals)}`;
  if (clock === "relative") {
    return `${String(seconds)}${fraction} s`;
  }
  if (clock === "epoch") {
    return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19).replace("T", " ")}${fraction}`;
  }
  const two = (value: bigint) => String(value).padStart(2, "0");
  return `${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}${fraction}`;
}

/** Return a duration with the unit that suits it: 16.43 s, 2.486 µs. */
export function formatSpan(ns: number | null): string {
  if (ns === null) {
    return "–";
  }
  for (const [unit, size] of [
    ["s", 1e9],
    ["ms", 1e6],
    ["µs", 1e3],
  ] as const) {
    if (Math.abs(ns) >= size) {
      return `${String(Number((ns / size).toPrecision(4)))} ${unit}`;
    }
  }
  return `${String(Number(ns.toPrecision(4)))} ns`;
}

/** Return the window that is `factor` times as wide around a place (0 to 1) of the present one. */
export function zoomWindow(start: string, widthNs: number, factor: number, place: number): { start: string; end: string } {
  const width = Math.max(100, Math.round(widthNs * factor));
  const from = BigInt(start) + BigInt(Math.round(widthNs * place)) - BigInt(Math.round(width * place));
  const begin = from < 0n ? 0n : from;
  return { start: String(begin), end: String(begin + BigInt(width)) };
}

/** Return the window moved by a share of its width. */
export function moveWindow(start: string, widthNs: number, share: number): { start: string; end: string } {
  const moved = BigInt(start) + BigInt(Math.round(widthNs * share));
  const begin = moved < 0n ? 0n : moved;
  return { start: String(begin), end: String(begin + BigInt(Math.round(widthNs))) };
}

/** Return the window around a wait, with a tenth of it on both sides. */
export function windowAround(start: string, end: string): { start: string; end: string } {
  const from = BigInt(start);
  const to = BigInt(end);
  const margin = (to - from) / 10n + 1000n;
  return { start: String(from > margin ? from - margin : 0n), end: String(to + margin) };
}

/** Return the place of an instant in a window, in nanoseconds after its start. */
export function offsetIn(start: string, at: string): number {
  return Number(BigInt(at) - BigInt(start));
}

/** Return at most about `most` round offsets of a window, in nanoseconds. */
export function spanTicks(widthNs: number, most: number): readonly number[] {
  const wanted = widthNs / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(Math.max(1, wanted)));
  const step = Math.max(1, (STEPS.find((each) => each * power >= wanted) ?? 10) * power);
  return Array.from({ length: Math.floor(widthNs / step) + 1 }, (_, at) => at * step);
}

/** Return one path of upright strokes for the events of a colour in a lane; more events make a stroke higher. */
export function eventPath(lane: LogLane, name: number, widthNs: number, widthPx: number): string {
  const { bins } = lane;
  const scale = widthPx / widthNs;
  return bins.first_ns
    .flatMap((first, at) => {
      if (bins.name[at] !== name) {
        return [];
      }
      const height = 5 + Math.min(4, Math.log2(1 + (bins.count[at] ?? 1)));
      const x = (first * scale).toFixed(1);
      return [`M${x} ${String(LANE_PX - 1)}v${(-height).toFixed(1)}`];
    })
    .join("");
}

export interface SpanBox {
  readonly x: number;
  readonly width: number;
  readonly kind: string;
  readonly label: string;
  readonly lengthNs: number;
  readonly count: number;
  readonly isOpen: boolean;
}

/** Return the spans of a lane as boxes in pixels, cut at the edges; what runs comes first, so that waits are above it. */
export function spanBoxes(lane: LogLane, widthNs: number, widthPx: number): readonly SpanBox[] {
  const { spans } = lane;
  const scale = widthPx / widthNs;
  return spans.start_ns
    .map((start, at) => {
      const end = spans.end_ns[at] ?? start;
      const x = Math.max(0, start * scale);
      return {
        x,
        width: Math.max(1, Math.min(widthPx, end * scale) - x),
        kind: spans.kind[at] ?? "run",
        label: spans.label[at] ?? "",
        lengthNs: end - start,
        count: spans.count[at] ?? 1,
        isOpen: spans.is_open[at] ?? false,
      };
    })
    .toSorted((a, b) => Number(a.kind !== "run") - Number(b.kind !== "run"));
}

/** Return the share of the largest of counts, for a bar. */
export function barShare(count: number, counts: readonly number[]): number {
  return count / Math.max(1, ...counts);
}

/** The lanes' names take this much of the picture's width. */
export const LABEL_PX = 170;

/** Return how many pixels the lanes of a picture have: in steps, so that a scrollbar asks for nothing new. */
export function lanePixels(width: number): number {
  return Math.min(4000, Math.max(200, Math.floor((width - LABEL_PX) / 20) * 20));
}
