import { describe, expect, it } from "vitest";
import type { SeriesBlock } from "./block";
import { grow, tailOf } from "./grow";
import { toEpochMs, toIso, type Window } from "./time";

const START = Date.parse("2026-11-21T10:00:00Z");
const second = (n: number) => toEpochMs(START + n * 1_000);
const window = (from: number, to: number): Window => ({ start: second(from), end: second(to) });

/** What the server answers of a host that samples each second, but for the seconds that it missed: a null marks where a gap begins. */
function answer(own: Window, missed: (n: number) => boolean = () => false, fields = ["us", "sy"]): SeriesBlock {
  const times: number[] = [];
  const values: (number | null)[] = [];
  for (let n = Math.ceil((own.start - START) / 1_000); second(n) < own.end; n += 1) {
    if (!missed(n)) {
      times.push(second(n));
      values.push(n);
    } else if (!missed(n - 1) && times.length > 0) {
      times.push(second(n));
      values.push(null);
    }
  }
  const n_raw = values.filter((value) => value !== null).length;
  return {
    host: "web1",
    stat: "vmstat_linux",
    start: toIso(own.start),
    end: toIso(own.end),
    resolution: "raw",
    source: "raw",
    column_ms: 1_000,
    n_raw: fields.length * n_raw,
    n_points: fields.length * n_raw,
    n_instances_left_out: 0,
    series: n_raw === 0 ? [] : fields.map((field) => ({ instance: "", field, unit: "%", n_raw, times, values })),
  };
}

/** Grow the block of a window to the next one, as the page does. */
function grownTo(next: Window, block: SeriesBlock, missed?: (n: number) => boolean, fields?: string[]): SeriesBlock | null {
  const tail = tailOf(block, next, 500);
  return tail === null ? null : grow(block, answer(tail.window, missed, fields), next, 500);
}

describe("a live window that moves on", () => {
  it("is grown to what the whole window has", () => {
    let block = answer(window(0, 300));
    for (let at = 1; at <= 200; at += 7) {
      const next = grownTo(window(at, 300 + at), block);
      expect(next).toEqual(answer(window(at, 300 + at)));
      block = next ?? block;
    }
    // Lines of one axis still share their times.
    expect(block.series[0]?.times).toBe(block.series[1]?.times);
  });

  it("takes samples that arrived late, and reads a twentieth of a window of ten minutes", () => {
    const late = answer(window(0, 600), (n) => n >= 590);
    expect(grownTo(window(1, 601), late)).toEqual(answer(window(1, 601)));
    expect(tailOf(late, window(1, 601), 500)).toEqual({ window: window(570, 601), width: 26 });
  });

  it("keeps a gap", () => {
    const missed = (n: number): boolean => n >= 200 && n < 240;
    expect(grownTo(window(5, 305), answer(window(0, 300), missed), missed)).toEqual(answer(window(5, 305), missed));
  });

  it("is read whole where a line came back after a gap, or is new", () => {
    const missed = (n: number): boolean => n >= 250 && n < 301;
    expect(grownTo(window(5, 305), answer(window(0, 300), missed), missed)).toBeNull();
    expect(grownTo(window(5, 305), answer(window(0, 300)), undefined, ["us", "sy", "wa"])).toBeNull();
  });

  it("loses a line that has ended before it", () => {
    const block = answer(window(0, 300), (n) => n >= 10);
    expect(grownTo(window(15, 315), block, (n) => n >= 10)?.series).toEqual([]);
  });

  it("is read whole where it has more samples than the graph has room for", () => {
    const block = answer(window(0, 300));
    const tail = tailOf(block, window(1, 301), 500);
    expect(grow(block, answer(tail?.window ?? window(0, 1)), window(1, 301), 50)).toBeNull();
    expect(grow(block, { ...answer(window(270, 301)), resolution: "envelope" }, window(1, 301), 500)).toBeNull();
  });

  it("is read whole where it is another one", () => {
    const block = answer(window(100, 400));
    for (const other of [window(99, 401), window(100, 400), window(100, 399), window(371, 671), window(1_000, 1_300)]) {
      expect(tailOf(block, other, 500), JSON.stringify(other)).toBeNull();
    }
    expect(tailOf({ ...block, resolution: "envelope" }, window(101, 401), 500)).toBeNull();
  });
});
