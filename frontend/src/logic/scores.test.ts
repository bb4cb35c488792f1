import { describe, expect, it } from "vitest";
import type { ScoreHistory } from "./api";
import { countJudged, describeScoreNormal, scoreLevel, scoreRows, scoresWindow, spellOf, topRun } from "./scores";
import { toEpochMs } from "./time";

const MINUTE = 60_000;

const NORMAL: ScoreHistory["normal"] = {
  kind: "baseline",
  baseline: 1,
  name: "quiet",
  recorded_h: null,
  needed_h: 24,
  too_short: null,
  unbuilt: null,
  sentence: "compared with quiet",
};

function history(...scores: readonly (readonly [minute: number, cpu: number | null, disk: number | null])[]): ScoreHistory {
  return {
    step_ms: MINUTE,
    subsystems: ["cpu", "disk"],
    window_minutes: [1, 5, 15],
    normal: NORMAL,
    steps: scores.map(([minute, cpu, disk]) => ({
      start_ms: minute * MINUTE,
      scores: [
        [0.9, 0.9],
        [cpu, disk],
        [0.9, 0.9],
      ],
      n_judged: 10 + minute,
      baseline: 1,
      findings:
        (disk ?? 0) > 0.2
          ? [
              {
                subsystem: "disk",
                stat: "iostat_linux",
                field: "util_pct",
                instance: "vda",
                anomaly_score: disk ?? 0,
                sentence: `disk ${String(disk)}`,
              },
            ]
          : [],
    })),
  };
}

function minutes(from: number, to: number) {
  return { start: toEpochMs(from * MINUTE), end: toEpochMs(to * MINUTE) };
}

describe("rows of scores", () => {
  it("are of what was unusual in five minutes, the highest first, and cut where the level changes or minutes are missing", () => {
    const rows = scoreRows(history([0, 0.1, 0.3], [1, 0.2, 0.35], [2, null, 0.7], [4, 0.1, 0.7], [5, 0.1, null]));
    expect(rows.map(({ subsystem, score }) => [subsystem, score])).toEqual([
      ["disk", 0.7],
      ["cpu", 0.2],
    ]);
    expect(rows[0]?.runs).toEqual([
      { window: minutes(0, 2), level: 1, score: 0.35, sentence: "disk 0.35" },
      { window: minutes(2, 3), level: 3, score: 0.7, sentence: "disk 0.7" },
      { window: minutes(4, 5), level: 3, score: 0.7, sentence: "disk 0.7" },
    ]);
    expect(rows[1]?.runs).toEqual([{ window: minutes(1, 2), level: 1, score: 0.2, sentence: null }]);
  });

  it("name their highest run, the first of equals", () => {
    const [row] = scoreRows(history([0, 0, 0.3], [1, 0, 0.7], [3, 0, 0.7]));
    expect(row && topRun(row)?.window).toEqual(minutes(1, 2));
  });

  it("give the whole time around a run", () => {
    const [row] = scoreRows(history([0, 0, 0.3], [1, 0, 0.5], [2, 0, 0.7], [3, 0, 0.3], [5, 0, 0.3]));
    expect(row?.runs.map((run) => spellOf(row, run))).toEqual([
      minutes(0, 4),
      minutes(0, 4),
      minutes(0, 4),
      minutes(0, 4),
      minutes(5, 6),
    ]);
  });

  it("are none in a calm window, which says how much was judged", () => {
    const calm = history([0, 0.1, null], [1, 0.19, 0]);
    expect(scoreRows(calm)).toEqual([]);
    expect(countJudged(calm)).toBe(11);
    expect(countJudged(history())).toBeNull();
  });
});

describe("what a host is compared with", () => {
  it("is said unless a person marked it", () => {
    expect(describeScoreNormal(NORMAL)).toBe("");
    expect(describeScoreNormal({ ...NORMAL, kind: "rolling", name: "the last 7 days" })).toContain("the host's last days");
    expect(describeScoreNormal({ ...NORMAL, kind: "rolling", too_short: "brief" })).toMatch(
      /because the baseline brief is shorter/,
    );
    expect(describeScoreNormal({ ...NORMAL, kind: "learning", recorded_h: 5.7 })).toContain("5 of 24 h");
    expect(describeScoreNormal({ ...NORMAL, unbuilt: "office" })).toMatch(/an earlier baseline, until office has a profile$/);
    expect(describeScoreNormal({ ...NORMAL, kind: "rolling", unbuilt: "office" })).toMatch(
      /last days, until the baseline office/,
    );
    expect(describeScoreNormal({ ...NORMAL, kind: "none", too_short: "brief" })).toMatch(/^the baseline brief is shorter/);
  });
});

describe("levels and windows", () => {
  it("begin at their scores", () => {
    expect([0, 0.19, 0.2, 0.4, 0.6, 1].map(scoreLevel)).toEqual([0, 0, 1, 2, 3, 3]);
  });

  it("are fetched in whole minutes", () => {
    expect(scoresWindow({ start: toEpochMs(61_500), end: toEpochMs(119_000) })).toEqual(minutes(1, 2));
  });
});
