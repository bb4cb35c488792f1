import { describe, expect, it } from "vitest";
import { describeCoverage, mergeWindows } from "./coverage";
import {
  calendarRanges,
  isSameRange,
  liveEnd,
  livePeriod,
  liveStep,
  openingWindow,
  parseRange,
  requireWindow,
  resolveRange,
  shiftRange,
  surroundings,
  toggleLive,
  suggestedBaselines,
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
    expect(resolveRange(live, now)).toEqual(window(now - HOUR, now));
    const paused = toggleLive(live, now);
    expect(paused).toEqual({ kind: "fixed", window: window(now - HOUR, now) });
    expect(toggleLive(paused, now)).toEqual(live);
    expect(toggleLive(live, toEpochMs(now - 900))).toEqual(paused);
    expect(shiftRange(live, toEpochMs(now - 900), -1)).toEqual({ kind: "fixed", window: window(now - 2 * HOUR, now - HOUR) });
  });

  it("shift by a share and zoom around the middle; live ranges keep their end", () => {
    const fixed = { kind: "fixed", window: window(100_000, 200_000) } as const;
    expect(shiftRange(fixed, now, 0.5)).toEqual({ kind: "fixed", window: window(150_000, 250_000) });
    expect(zoomRange(fixed, now, 0.5)).toEqual({ kind: "fixed", window: window(125_000, 175_000) });
    expect(zoomRange({ kind: "live", length: MINUTE }, now, 2)).toEqual({ kind: "live", length: 2 * MINUTE });
    expect(zoomRange({ kind: "live", length: toDurationMs(5_000) }, now, 0.5)).toEqual({ kind: "live", length: 5_000 });
  });

  it("follow a host whose clock is ahead, by tenths of a second", () => {
    expect(liveEnd(toEpochMs(10_230), null)).toBe(10_300);
    expect(liveEnd(toEpochMs(10_200), { newest: toEpochMs(14_000), at: toEpochMs(10_900) })).toBe(14_100);
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
    expect(describeCoverage(coverage([minutes(0, 60)]), hour)).toEqual({ state: "full", text: "samples for all of 1 h" });
    expect(describeCoverage(coverage([minutes(0, 20), minutes(30, 40)]), hour)).toEqual({
      state: "partial",
      text: "samples for 30 min of 1 h",
    });
    expect(describeCoverage(coverage([]), hour).state).toBe("none");
  });

  it("never calls a window complete if bytes were lost", () => {
    expect(describeCoverage(coverage([minutes(0, 60)], [{ n_bytes: 2_500 }]), hour)).toEqual({
      state: "partial",
      text: "samples for 1 h of 1 h; 2.5 kB dropped on the host (1 gap)",
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
    expect(openingWindow(before(26 * HOUR), before(25 * HOUR), now)).toEqual({
      start: before(26 * HOUR),
      end: before(25 * HOUR - SECOND),
    });
    expect(openingWindow(before(HOUR), before(HOUR), now)).toEqual({
      start: before(HOUR + MINUTE - SECOND),
      end: before(HOUR - SECOND),
    });
  });

  it("opens on the last hour of a long one", () => {
    expect(openingWindow(before(90 * DAY), before(HOUR), now)).toEqual({
      start: before(2 * HOUR - SECOND),
      end: before(HOUR - SECOND),
    });
  });

  it("is live as usual while samples come, and before the first", () => {
    expect(openingWindow(before(DAY), before(14 * MINUTE), now)).toBeNull();
    expect(openingWindow(before(DAY), toEpochMs(now + MINUTE), now)).toBeNull();
    expect(openingWindow(null, null, now)).toBeNull();
  });
});

describe("ranges that people type", () => {
  // A Monday in summer, 09:30 in Berlin.
  const at = toEpochMs(Date.parse("2026-07-20T07:30:00Z"));
  const typed = (text: string): string => {
    const found = parseRange(text, "Europe/Berlin", at);
    if (typeof found === "string") {
      return found;
    }
    return found.kind === "live" ? `live ${String(found.length)}` : `${toIso(found.window.start)}/${toIso(found.window.end)}`;
  };

  it.each([
    ["now-3h", `live ${String(3 * HOUR)}`],
    ["3h", `live ${String(3 * HOUR)}`],
    ["Last 1h30m", `live ${String(1.5 * HOUR)}`],
    ["now-15m to now", `live ${String(15 * MINUTE)}`],
    ["today", "2026-07-19T22:00:00Z/2026-07-20T07:30:00Z"],
    ["yesterday", "2026-07-18T22:00:00Z/2026-07-19T22:00:00Z"],
    ["yesterday 9-11", "2026-07-19T07:00:00Z/2026-07-19T09:00:00Z"],
    ["yesterday 22:30-1", "2026-07-19T20:30:00Z/2026-07-19T23:00:00Z"],
    ["22-6", "2026-07-19T20:00:00Z/2026-07-20T04:00:00Z"],
    ["14-15", "2026-07-19T12:00:00Z/2026-07-19T13:00:00Z"],
    ["9-9:20", "2026-07-20T07:00:00Z/2026-07-20T07:20:00Z"],
    ["2026-07-01 9-11", "2026-07-01T07:00:00Z/2026-07-01T09:00:00Z"],
    ["09:05 to 09:20", "2026-07-20T07:05:00Z/2026-07-20T07:20:00Z"],
    ["now-2h to now-1h", "2026-07-20T05:30:00Z/2026-07-20T06:30:00Z"],
  ])("%s", (text, expected) => {
    expect(typed(text)).toBe(expected);
  });

  it.each(["", "soon", "yesterday 25-26", "2026-02-30", "now-1h to now-2h", "9:75-10", "0s"])(
    "%j is an error that says what to write",
    (text) => {
      expect(typed(text)).toMatch(/write|before|must be/);
    },
  );

  it("by the calendar end now at the latest, across midnight too", () => {
    const names = (iso: string) =>
      calendarRanges("Europe/Berlin", toEpochMs(Date.parse(iso))).map(
        ({ label, window }) => `${label} ${toIso(window.start)} ${toIso(window.end)}`,
      );
    expect(names("2026-07-20T07:30:00Z")).toEqual([
      "Today 2026-07-19T22:00:00Z 2026-07-20T07:30:00Z",
      "Yesterday 2026-07-18T22:00:00Z 2026-07-19T22:00:00Z",
      "This shift (06:00 to 14:00) 2026-07-20T04:00:00Z 2026-07-20T07:30:00Z",
      "Last shift (22:00 to 06:00) 2026-07-19T20:00:00Z 2026-07-20T04:00:00Z",
    ]);
    // At 03:00 the shift began yesterday.
    expect(names("2026-07-20T01:00:00Z")[2]).toBe("This shift (22:00 to 06:00) 2026-07-19T20:00:00Z 2026-07-20T01:00:00Z");
  });

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
