import { describe, expect, it } from "vitest";
import { describeCoverage, mergeWindows } from "./coverage";
import {
  freezeRange,
  isGrowing,
  isSameRange,
  liveEnd,
  livePeriod,
  liveStep,
  openingRange,
  type Range,
  requireWindow,
  resolveRange,
  shiftRange,
  surroundings,
  toggleLive,
  suggestedBaselines,
  usualLength,
  zoomRange,
} from "./range";
import {
  bandShare,
  dockOf,
  dragWindow,
  hoveredTime,
  pixelOfTime,
  shareAtPixel,
  stretchOf,
  timeAtPixel,
  tipPlace,
} from "./surface";
import { DAY, type EpochMs, HOUR, lengthOf, MINUTE, SECOND, toDurationMs, toEpochMs, toIso, type Window } from "./time";

const window = (start: number, end: number): Window => ({ start: toEpochMs(start), end: toEpochMs(end) });
const now = toEpochMs(1_000_000_000);

describe("ranges", () => {
  it("that are live end now, and become the window they show when paused", () => {
    const live = { kind: "live", length: HOUR } as const;
    expect(resolveRange(live, now, "UTC")).toEqual(window(now - HOUR, now));
    const paused = toggleLive(live, now, "UTC");
    expect(paused).toEqual({ kind: "fixed", window: window(now - HOUR, now) });
    expect(toggleLive(paused, now, "UTC")).toEqual(live);
    expect(toggleLive(live, toEpochMs(now - 900), "UTC")).toEqual(paused);
    expect(shiftRange(live, toEpochMs(now - 900), -1, "UTC")).toEqual({
      kind: "fixed",
      window: window(now - 2 * HOUR, now - HOUR),
    });
  });

  it("by the calendar move on with the clock of a zone, and are frozen for links", () => {
    const at = (text: string) => toEpochMs(Date.parse(text));
    const shown = (text: string, range: Range): string => {
      const { start, end } = resolveRange(range, at(text), "Europe/Berlin");
      return `${toIso(start)}/${toIso(end)}`;
    };
    const today = { kind: "calendar", name: "today", shifts: [] } as const;
    // The clocks change: this day has 25 hours.
    expect(shown("2026-10-25T22:59:59Z", today)).toBe("2026-10-24T22:00:00Z/2026-10-25T22:59:59Z");
    expect(shown("2026-10-25T23:00:00Z", today)).toBe("2026-10-25T23:00:00Z/2026-10-25T23:00:01Z");
    const yesterday = { kind: "calendar", name: "yesterday", shifts: [] } as const;
    expect(shown("2026-10-26T05:00:00Z", yesterday)).toBe("2026-10-24T22:00:00Z/2026-10-25T23:00:00Z");
    const shift = { kind: "calendar", name: "last-shift", shifts: [7 * HOUR, 19 * HOUR] } as const;
    expect(shown("2026-07-20T07:30:00Z", shift)).toBe("2026-07-19T17:00:00Z/2026-07-20T05:00:00Z");
    expect([today, yesterday, shift].map(isGrowing)).toEqual([true, false, false]);
    const frozen = freezeRange(today, at("2026-07-20T07:30:00.250Z"), "Europe/Berlin");
    expect(shown("2026-11-01T00:00:00Z", frozen)).toBe("2026-07-19T22:00:00Z/2026-07-20T07:30:01Z");
    expect(toggleLive(today, at("2026-07-20T07:30:00.250Z"), "Europe/Berlin")).toEqual(frozen);
    expect(toggleLive(yesterday, at("2026-07-20T07:30:00Z"), "Europe/Berlin")).toEqual({ kind: "live", length: DAY });
    expect(isSameRange(shift, { ...shift, shifts: [6 * HOUR] })).toBe(false);
    expect(isSameRange(today, { ...today, shifts: [6 * HOUR] })).toBe(true);
    expect([today, shift].map(usualLength)).toEqual([DAY, 8 * HOUR]);
  });

  it("shift by a share and zoom around the middle; live ranges keep their end", () => {
    const fixed = { kind: "fixed", window: window(100_000, 200_000) } as const;
    expect(shiftRange(fixed, now, 0.5, "UTC")).toEqual({ kind: "fixed", window: window(150_000, 250_000) });
    expect(zoomRange(fixed, now, 0.5, "UTC")).toEqual({ kind: "fixed", window: window(125_000, 175_000) });
    expect(zoomRange({ kind: "live", length: MINUTE }, now, 2, "UTC")).toEqual({ kind: "live", length: 2 * MINUTE });
    expect(zoomRange({ kind: "live", length: toDurationMs(5_000) }, now, 0.5, "UTC")).toEqual({ kind: "live", length: 5_000 });
  });

  it("follow a host whose clock is ahead, by tenths of a second", () => {
    expect(liveEnd(toEpochMs(10_230), null)).toBe(10_300);
    expect(liveEnd(toEpochMs(10_200), { newest: toEpochMs(14_000), at: toEpochMs(10_900) })).toBe(14_100);
    expect(liveEnd(toEpochMs(10_200), { newest: toEpochMs(10 * 365 * DAY), at: toEpochMs(10_900) })).toBe(10_900);
    expect([MINUTE, HOUR, 24 * HOUR, 1000 * HOUR].map((length) => liveStep(toDurationMs(length)))).toEqual([
      500, 1_000, 24_000, 60_000,
    ]);
    expect(livePeriod(MINUTE, false)).toBe(3_000);
    expect(livePeriod(MINUTE, true)).toBe(10_000);
    expect(livePeriod(toDurationMs(24 * HOUR), true)).toBe(60_000);
  });

  it("that users type become windows, or an error says why not", () => {
    expect(requireWindow(toEpochMs(0), toEpochMs(5_000))).toEqual(window(0, 5_000));
    expect(requireWindow(null, toEpochMs(5_000))).toContain("From is not a valid time");
    expect(requireWindow(toEpochMs(5_000), toEpochMs(5_000))).toContain("before");
    expect(requireWindow(toEpochMs(0), toEpochMs(1e12))).toContain("ten years");
  });

  it("offer normal windows before an incident, of the same length at the same time of day", () => {
    const incident = window(700_000_000, 700_600_000);
    for (const { label, window: usual } of suggestedBaselines(incident)) {
      expect(usual.end).toBeLessThanOrEqual(incident.start);
      if (label !== "hour before") {
        expect(lengthOf(usual)).toBe(lengthOf(incident));
      }
    }
    expect(surroundings(incident, 0.5)).toEqual(window(699_700_000, 700_900_000));
  });
});

describe("pixels and instants", () => {
  const margins = { left: 50, right: 10, top: 0, bottom: 0 };
  const drawn = window(0, 100_000);

  it("agree with each other", () => {
    expect(timeAtPixel(50, 160, margins, drawn)).toBe(0);
    expect(timeAtPixel(100, 160, margins, drawn)).toBe(50_000);
    expect(timeAtPixel(9_999, 160, margins, drawn)).toBe(100_000);
    expect(pixelOfTime(toEpochMs(50_000), 160, margins, drawn)).toBe(100);
    expect(pixelOfTime(toEpochMs(100_001), 160, margins, drawn)).toBeNull();
    expect(hoveredTime(20, 160, margins, drawn)).toBeNull();
  });

  it("turn drags into windows, but not clicks", () => {
    expect(dragWindow(60, 63, 160, margins, drawn)).toBeNull();
    expect(dragWindow(120, 60, 160, margins, drawn)).toEqual(window(10_000, 70_000));
  });

  it("clip a band to the window", () => {
    expect(bandShare(window(-50_000, 50_000), drawn)).toEqual({ left: 0, width: 0.5 });
    expect(bandShare(window(100_000, 200_000), drawn)).toBeNull();
  });
});

describe("coverage", () => {
  const minutes = (from: number, to: number) => ({ start: toIso(toEpochMs(from * MINUTE)), end: toIso(toEpochMs(to * MINUTE)) });
  const coverage = (covered: ReturnType<typeof minutes>[], gaps: { n_bytes: number }[] = []) => ({
    host: "h",
    ...minutes(0, 60),
    first_sample_at: null,
    last_sample_at: null,
    stats: [{ stat: "s", n_samples: 1, interval_s: 1, covered }],
    gaps: gaps.map(({ n_bytes }) => ({ spec: "s", key: "k", reported_at: minutes(5, 6).start, n_bytes })),
  });
  const hour = window(0, HOUR);

  it("joins adjacent windows", () => {
    expect(mergeWindows([window(5, 9), window(0, 3), window(3, 6), window(20, 21)])).toEqual([window(0, 9), window(20, 21)]);
  });

  it("says how much of the window has samples", () => {
    expect(describeCoverage(coverage([minutes(0, 60)]), hour)).toEqual({ state: "full", text: "data for all of 1 h" });
    expect(describeCoverage(coverage([minutes(0, 20), minutes(30, 40)]), hour)).toEqual({
      state: "partial",
      text: "30 min of data in 1 h",
    });
    expect(describeCoverage(coverage([]), hour).state).toBe("none");
  });

  it("never calls a window complete if bytes were lost", () => {
    expect(describeCoverage(coverage([minutes(0, 60)], [{ n_bytes: 2_500 }]), hour)).toEqual({
      state: "partial",
      text: "1 h of data in 1 h; 2.5 kB dropped on the host (1 gap)",
    });
  });
});

describe("a drawing that is shifted until it is redrawn", () => {
  it("shows each instant at its pixel", () => {
    const margins = { left: 0, right: 0, top: 0, bottom: 0 };
    const drawn = window(1_000, 2_000);
    for (const view of [window(1_000, 2_000), window(1_250, 1_750), window(500, 3_000), window(1_900, 2_900)]) {
      const { scale, shift_px } = stretchOf(drawn, view, 400);
      for (const at of [1_900, 1_950, 2_000].map(toEpochMs).filter((each) => each <= view.end)) {
        const before = pixelOfTime(at, 400, margins, drawn)!;
        expect(before * scale + shift_px).toBeCloseTo(pixelOfTime(at, 400, margins, view)!, 6);
      }
    }
  });
});

describe("a host whose samples ended", () => {
  const now = toEpochMs(Date.UTC(2026, 10, 21, 12));
  const before = (ms: number): EpochMs => toEpochMs(now - ms);

  it("opens on all of a short recording, to its last sample", () => {
    expect(openingRange(before(26 * HOUR), before(25 * HOUR), now, false)).toEqual({
      kind: "fixed",
      window: { start: before(26 * HOUR), end: before(25 * HOUR - SECOND) },
    });
    expect(openingRange(before(HOUR), before(HOUR), now, false)).toEqual({
      kind: "fixed",
      window: { start: before(HOUR + 4 * SECOND), end: before(HOUR - SECOND) },
    });
  });

  it("opens on the seconds that were imported a moment ago", () => {
    expect(openingRange(before(MINUTE), before(49 * SECOND), now, false)).toEqual({
      kind: "fixed",
      window: { start: before(MINUTE), end: before(48 * SECOND) },
    });
  });

  it("opens on the last hour of a long one", () => {
    expect(openingRange(before(90 * DAY), before(HOUR), now, false)).toEqual({
      kind: "fixed",
      window: { start: before(2 * HOUR - SECOND), end: before(HOUR - SECOND) },
    });
  });

  it("is live as usual while samples come, and before the first", () => {
    expect(openingRange(before(DAY), before(14 * MINUTE), now, false)).toBeNull();
    expect(openingRange(before(DAY), toEpochMs(now + MINUTE), now, true)).toBeNull();
    expect(openingRange(null, null, now, false)).toBeNull();
  });

  it("opens on a few minutes if it has just begun", () => {
    const lengths = [20 * SECOND, 3 * MINUTE, 5 * MINUTE].map((age) => openingRange(before(age), before(SECOND), now, true));
    expect(lengths).toEqual([{ kind: "live", length: 2 * MINUTE }, { kind: "live", length: 5 * MINUTE }, null]);
  });
});

describe("ranges", () => {
  it("are the same with the same ends", () => {
    expect(isSameRange({ kind: "live", length: HOUR }, { kind: "live", length: HOUR })).toBe(true);
    expect(isSameRange({ kind: "live", length: HOUR }, { kind: "fixed", window: window(0, HOUR) })).toBe(false);
  });
});

describe("what lies over a graph", () => {
  it("is docked where it does not cover the graph", () => {
    const page = { top: 200, bottom: 900 };
    expect(dockOf({ top: 250, bottom: 440 }, page)).toEqual({ edge: "bottom", height: 444 });
    expect(dockOf({ top: 650, bottom: 840 }, page)).toEqual({ edge: "top", height: 434 });
    expect(dockOf({ top: 250, bottom: 850 }, page).height).toBe(150);
  });

  it("is a tooltip on the side with more room", () => {
    expect(tipPlace(100, 50, 600, 186)).toEqual({ top: 36, left: 110 });
    expect(tipPlace(500, 180, 600, 186)).toEqual({ top: 126, right: 110 });
    expect(shareAtPixel(20, 200, { left: 0, right: 0, top: 20, bottom: 20 })).toBe(1);
  });
});
