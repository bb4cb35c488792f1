import { describe, expect, it } from "vitest";
import { computedDecimals } from "./comparison";
import { counted } from "./counted";
import { formatAmount } from "./ledger";
import { formatBytes, formatDigits, formatScore, formatValue, formatWithUnit } from "./number";
import cases from "./readable_cases.json";
import { valueAxis } from "./ticks";
import { describeDuration, toDurationMs } from "./time";
import { formatSpan } from "./trace_log";
import { labelledAxis, scaleFor } from "./unit";

const WRITTEN: Readonly<Record<string, (value: number, unit: string, digits?: number) => string>> = {
  digits: (value, _, digits) => formatDigits(value, digits),
  times: formatScore,
  human: formatAmount,
  bytes: formatBytes,
  duration: (value) => describeDuration(toDurationMs(1000 * value)),
  span: formatSpan,
  count: (value, unit) => counted(value, unit),
};

describe("numbers", () => {
  it.each(cases)("are written as the server writes them: $how of $value is $text", ({ how, value, unit, digits, text }) => {
    expect(WRITTEN[how]?.(value, unit ?? "", digits)).toBe(text);
  });

  it("have the decimals of the tool, and separators", () => {
    expect(formatValue(1_234_567.891, 2)).toBe("1,234,567.89");
    expect(formatValue(97, 0)).toBe("97");
    expect(formatValue(0.5, 2)).toBe("0.50");
    expect(formatValue(-3, 0)).toBe("−3");
    expect(formatValue(-0, 0)).toBe("0");
  });

  it("that are missing are not zero", () => {
    expect(formatValue(null, 2)).toBe("–");
    expect(formatWithUnit(null, 2, "kB/s")).toBe("–");
    expect(formatValue(Number.NaN, 0)).toBe("–");
    expect(formatDigits(null)).toBe("–");
  });

  it("that were computed have one more decimal only between small whole numbers", () => {
    expect(computedDecimals(0.5, 0)).toBe(1);
    expect(computedDecimals(109_328.5, 0)).toBe(0);
    expect(computedDecimals(3, 0)).toBe(0);
    expect(computedDecimals(1.234, 2)).toBe(2);
  });

  it("of other kinds are formatted, too", () => {
    expect(formatDigits(-3.76753)).toBe("−3.768");
    expect(formatScore(Number.POSITIVE_INFINITY)).toBe("∞");
  });
});

describe("units on an axis", () => {
  it.each([
    ["kB/s", 131_000, 1e3, "MB/s", ""],
    ["KiB", 18_065_654, 2 ** 20, "GiB", ""],
    ["kB/s", 95, 1, "kB/s", ""],
    ["KiB/s", 0.5, 2 ** -10, "B/s", ""],
    // The kB of sysstat, whose specs say KiB: 131,072 of them are 128 MiB, not 131 MB.
    ["KiB/s", 131_072, 2 ** 10, "MiB/s", ""],
    ["MiB/s", 2_048, 2 ** 10, "GiB/s", ""],
    ["bytes", 3_000_000, 1e6, "MB", ""],
    ["bytes", 3, 1, "B", ""],
    ["ms", 8.4, 1, "ms", ""],
    ["ms", 12_000, 1e3, "s", ""],
    ["%", 100, 1, "%", ""],
    ["1/s", 1_500, 1, "1/s", ""],
    ["1/s", 150_000, 1e3, "1/s", "k"],
    ["processes", 3, 1, "processes", ""],
    ["", 2_500_000, 1e6, "", "M"],
    ["kB/s", 0, 1, "kB/s", ""],
  ])("%s up to %d", (unit, largest, factor, scaled, suffix) => {
    expect(scaleFor(unit, largest)).toEqual({ factor, unit: scaled, suffix });
  });

  it("keeps ticks in the source unit and labels in the scaled one", () => {
    const axis = labelledAxis(0, 131_000, "kB/s", 4);
    expect(axis.unit).toBe("MB/s");
    expect(axis.ticks).toEqual([0, 50_000, 100_000, 150_000]);
    expect(axis.labels).toEqual(["0", "50", "100", "150"]);
  });

  it("names the states of the SE toolkit, all of them", () => {
    const axis = labelledAxis(0, 4, "state", 4);
    expect([axis.unit, axis.low, axis.high, axis.labels[2], axis.labels[4]]).toEqual(["state", 0, 5, "green", "red"]);
  });

  it("has round ticks around all values", () => {
    for (const [low, high] of [
      [0, 1],
      [0, 0],
      [3, 3],
      [-5, 7],
      [0, 0.03],
      [99.2, 99.7],
      [0, 1e15],
      [-2, -1],
    ] as const) {
      const axis = valueAxis(low, high, 4);
      expect(axis.low).toBeLessThanOrEqual(low);
      expect(axis.high).toBeGreaterThanOrEqual(high);
      expect(axis.high).toBeGreaterThan(axis.low);
      expect(axis.ticks.length).toBeGreaterThanOrEqual(2);
      expect(axis.ticks.length).toBeLessThanOrEqual(8);
      expect(new Set(axis.ticks.map((tick) => tick.toFixed(axis.decimals))).size).toBe(axis.ticks.length);
    }
  });
});
