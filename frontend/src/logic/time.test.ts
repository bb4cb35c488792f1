import { describe, expect, it } from "vitest";
import {
  describeAge,
  describeDuration,
  type EpochMs,
  formatDuration,
  parseDuration,
  parseIso,
  toDurationMs,
  toEpochMs,
  toIso,
  windowBetween,
} from "./time";
import { labelledTicks, timeTicks } from "./ticks";
import { formatInstant, formatWindow, fromWall, offsetOf, parseInstant, toWall, zoneLabel } from "./zone";

const at = (text: string): EpochMs => {
  const found = parseIso(text);
  if (found === null) {
    throw new Error(text);
  }
  return found;
};

describe("instants and durations", () => {
  it("need a zone", () => {
    expect(parseIso("2026-11-21T09:05:00")).toBeNull();
    expect(parseIso("2026-13-21T09:05:00Z")).toBeNull();
    expect(parseIso("2026-02-30T09:05:00Z")).toBeNull();
    expect(parseIso("2024-02-29T23:05:00-05:00")).not.toBeNull();
    expect(toIso(at("2026-11-21T09:05:00.250+01:00"))).toBe("2026-11-21T08:05:00.250Z");
  });

  it("are written and read the same", () => {
    for (const text of ["15m", "1h30m", "7d", "1s", "250ms", "2d3h4m5s6ms"]) {
      expect(formatDuration(parseDuration(text)!)).toBe(text);
    }
    for (const text of ["", "0s", "m", "15", "-5m", "1h 30m"]) {
      expect(parseDuration(text)).toBeNull();
    }
  });

  it("are described with at most two units", () => {
    expect(describeDuration(toDurationMs(3_661_000))).toBe("1 h 1 min");
    expect(describeDuration(toDurationMs(900_001))).toBe("15 min");
    expect(describeDuration(toDurationMs(3_601_000))).toBe("1 h");
    expect(describeDuration(toDurationMs(0))).toBe("0 ms");
    expect(describeAge(toEpochMs(1_000_000), toEpochMs(1_042_300))).toBe("42 s ago");
    expect(describeAge(toEpochMs(1_000_000), toEpochMs(1_000_400))).toBe("just now");
    expect(describeAge(toEpochMs(1_010_000), toEpochMs(1_000_000))).toBe("in 10 s");
  });

  it("of a drag are whole seconds, in either direction", () => {
    expect(windowBetween(toEpochMs(61_400), toEpochMs(10_700))).toEqual({ start: 10_000, end: 62_000 });
    expect(windowBetween(toEpochMs(1_234), toEpochMs(2_345))).toEqual({ start: 1_234, end: 2_345 });
  });
});

describe("wall clocks", () => {
  it("follow zones with odd offsets", () => {
    const summer = at("2026-01-15T00:00:00Z");
    expect(zoneLabel("Pacific/Chatham", summer)).toBe("UTC+13:45");
    expect(formatInstant("Pacific/Chatham", summer)).toBe("2026-01-15 13:45:00");
    expect(zoneLabel("America/St_Johns", summer)).toBe("UTC−03:30");
    expect(zoneLabel("UTC", summer)).toBe("UTC");
  });

  it("convert back to the same instant, for every hour of a year", () => {
    for (let hour = 0; hour < 366 * 24; hour += 1) {
      const instant = toEpochMs(Date.UTC(2026, 0, 1) + hour * 3_600_000);
      const back = fromWall("Europe/Berlin", toWall("Europe/Berlin", instant));
      // The repeated hour in October gives its first occurrence.
      expect([0, -3_600_000]).toContain(back - instant);
    }
  });

  it("skip and repeat the right hours", () => {
    expect(toIso(fromWall("Europe/Berlin", Date.UTC(2026, 2, 29, 2, 30)))).toBe("2026-03-29T01:30:00Z");
    expect(toIso(fromWall("Europe/Berlin", Date.UTC(2026, 9, 25, 2, 30)))).toBe("2026-10-25T00:30:00Z");
    expect(offsetOf("Europe/Berlin", at("2026-10-25T01:30:00Z"))).toBe(3_600_000);
  });

  it("show the date once if both ends are on the same day", () => {
    const window = { start: at("2026-11-21T23:00:00Z"), end: at("2026-11-21T23:30:00Z") };
    expect(formatWindow("UTC", window)).toBe("2026-11-21 23:00:00 – 23:30:00");
    expect(formatWindow("Europe/Berlin", { ...window, start: at("2026-11-21T22:30:00Z") })).toBe(
      "2026-11-21 23:30:00 – 2026-11-22 00:30:00",
    );
  });
});

describe("a typed time", () => {
  const now = at("2026-11-21T12:00:00Z");
  const read = (text: string): string | null => {
    const found = parseInstant(text, "Europe/Berlin", now);
    return found === null ? null : toIso(found);
  };

  it.each([
    ["2026-11-21 09:05:00", "2026-11-21T08:05:00Z"],
    ["2026-11-21 09:05", "2026-11-21T08:05:00Z"],
    ["2026-11-21T09:05:00.250", "2026-11-21T08:05:00.250Z"],
    ["2026-11-20", "2026-11-19T23:00:00Z"],
    ["09:05", "2026-11-21T08:05:00Z"],
    ["9:05", "2026-11-21T08:05:00Z"],
    ["now", "2026-11-21T12:00:00Z"],
    ["now-15m", "2026-11-21T11:45:00Z"],
    ["now - 1h30m", "2026-11-21T10:30:00Z"],
    [" 2026-11-21T09:05:00Z ", "2026-11-21T09:05:00Z"],
    ["2026-11-21T09:05:00+05:30", "2026-11-21T03:35:00Z"],
    ["yesterday 09:05", "2026-11-20T08:05:00Z"],
    ["Today", "2026-11-20T23:00:00Z"],
    ["1795251900", "2026-11-21T09:05:00Z"],
    ["1795251900250", "2026-11-21T09:05:00.250Z"],
  ])("%s", (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it.each(["", "soon", "25:00", "2026-11-31 25:00", "2026-11-21 9", "now-", "now-0s", "12"])("rejects %j", (text) => {
    expect(read(text)).toBeNull();
  });
});

describe("ticks of a time axis", () => {
  it("are round local times inside the window", () => {
    const window = { start: at("2026-11-21T09:00:30Z"), end: at("2026-11-21T09:15:30Z") };
    expect(timeTicks(window, 6, "UTC").map(({ label }) => label)).toEqual(["09:05", "09:10", "09:15"]);
    const chatham = timeTicks({ start: at("2026-11-21T00:00:00Z"), end: at("2026-11-21T06:00:00Z") }, 6, "Pacific/Chatham");
    expect(chatham.map(({ label }) => label)).toEqual(["14:00", "15:00", "16:00", "17:00", "18:00", "19:00"]);
  });

  it("have no label where it would be cut", () => {
    const window = { start: at("2026-11-21T09:00:00Z"), end: at("2026-11-21T10:00:00Z") };
    const labels = (left: number, right: number): readonly string[] =>
      labelledTicks(window, "UTC", 88, 400 + left + right, { left, right }).map(({ label }) => label);
    expect(labels(58, 20)).toEqual(["09:00", "09:15", "09:30", "09:45", "10:00"]);
    expect(labels(58, 12)).toEqual(["09:00", "09:15", "09:30", "09:45", ""]);
    expect(labels(0, 0)).toEqual(["", "09:15", "09:30", "09:45", ""]);
  });

  it("carry the date at midnight", () => {
    const window = { start: at("2026-11-20T18:00:00Z"), end: at("2026-11-21T06:00:00Z") };
    expect(timeTicks(window, 4, "UTC").map(({ label }) => label)).toEqual(["18:00", "21:00", "Nov 21", "03:00", "06:00"]);
  });

  it("are strictly increasing and never too many, even across a clock change", () => {
    for (let length = 1_000; length < 400 * 86_400_000; length = Math.floor(length * 1.7)) {
      const start = at("2026-10-24T21:17:03Z");
      const ticks = timeTicks({ start, end: toEpochMs(start + length) }, 8, "Europe/Berlin");
      const times = ticks.map((tick) => tick.at);
      expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
      expect(times.length).toBeLessThanOrEqual(10);
      expect(times.every((time) => time >= start && time <= start + length)).toBe(true);
    }
  });
});
