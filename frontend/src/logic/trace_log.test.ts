import { describe, expect, it } from "vitest";
import { formatSpan, moveWindow, offsetIn, printLogTime, spanTicks, windowAround, zoomWindow } from "./trace_log";

describe("times of a trace", () => {
  it("keep every digit", () => {
    expect(printLogTime("39599109884679", "day", 9)).toBe("10:59:59.109884679");
    expect(printLogTime("1795824982690155001", "epoch", 9)).toBe("2026-11-28 00:16:22.690155001");
    expect(printLogTime("1859293372000", "relative", 6)).toBe("1859.293372 s");
    expect(offsetIn("1795824982690155000", "1795824982690155001")).toBe(1);
  });

  it("have the unit that suits them", () => {
    expect([16_433_966_497, 2486, 209, 0, null].map(formatSpan)).toEqual(["16.43 s", "2.486 µs", "209 ns", "0 ns", "–"]);
  });
});

describe("the window", () => {
  it("zooms around a place and moves", () => {
    expect(zoomWindow("1000", 1000, 0.5, 0.5)).toEqual({ start: "1250", end: "1750" });
    expect(moveWindow("1000", 1000, 0.5)).toEqual({ start: "1500", end: "2500" });
    expect(moveWindow("100", 1000, -0.5)).toEqual({ start: "0", end: "1000" });
    expect(windowAround("10000", "20000")).toEqual({ start: "8000", end: "22000" });
  });

  it("has round ticks", () => {
    expect(spanTicks(1000, 5)).toEqual([0, 200, 400, 600, 800, 1000]);
  });
});
