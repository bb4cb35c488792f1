import { describe, expect, test } from "vitest";
import type { EpisodeInfo, StateChange } from "./api";
import { copyOfRule, ruleNameOf } from "./rule_text";
import { fromApi, toEpochMs } from "./time";
import {
  describeInstances,
  describeMute,
  describeSeen,
  isBadRow,
  muteState,
  toBars,
  toEpisodeRows,
  toTimeline,
  unusualSeries,
} from "./watch";

const T0 = fromApi("2026-11-23T09:00:00Z");
const WINDOW = { start: T0, end: toEpochMs(T0 + 100_000) };
const change = (host: string, source: string, seconds: number, colour: number): StateChange => ({
  host,
  source,
  at: new Date(T0 + 1000 * seconds).toISOString(),
  colour,
});

describe("a timeline", () => {
  const rows = toTimeline([change("web1", "mutex", 0, 2), change("web2", "mutex", 0, 2), change("web2", "mutex", 40, 4)], WINDOW);

  test("has a row for each host and rule, the worst first, each state lasting until the next", () => {
    expect(rows.map(({ host, worst }) => [host, worst])).toEqual([
      ["web2", 4],
      ["web1", 2],
    ]);
    expect(rows[0]?.segments).toEqual([
      { start: T0, end: T0 + 40_000, colour: "green" },
      { start: T0 + 40_000, end: WINDOW.end, colour: "red" },
    ]);
    expect(rows.map(isBadRow)).toEqual([true, false]);
  });

  test("draws nothing where nothing is known, and worse states higher", () => {
    const [row] = toTimeline(
      [change("web1", "mutex", 0, -1), change("web1", "mutex", 50, 3), change("web1", "mutex", 60, 5)],
      WINDOW,
    );
    expect(toBars(row?.segments ?? [], WINDOW).map(({ x, width, height }) => [x, width, height])).toEqual([
      [500, 100, 10],
      [600, 400, 18],
    ]);
  });
});

test("values are said with their units", () => {
  const at = "2026-11-23T09:00:00Z";
  const saw = [
    { name: "smtx", value: 900, unit: "1/s", text: "900 /s", at },
    { name: "sys", value: 40, unit: "%", text: "40 %", at },
  ];
  expect(describeSeen(saw)).toBe("smtx 900 /s, sys 40 %");
});

test("instances are folded", () => {
  const named = (instance: string) => ({ instance }) as Parameters<typeof describeInstances>[0]["episodes"][number];
  expect(describeInstances({ episodes: [named("")], n_instances: 1 })).toBe("");
  expect(describeInstances({ episodes: ["0", "1", "2", "3"].map(named), n_instances: 64 })).toBe(`0, 1, 2 and 61 more`);
});

test("a mute says what it covers and when it counts", () => {
  const mute = { host: null, tag: null, source: null, instance: null, start: "2026-11-23T08:00:00Z", end: null };
  expect(describeMute(mute)).toBe("everything");
  expect(describeMute({ ...mute, host: "web1", source: "mutex" })).toContain("web1");
  expect(muteState(mute, T0)).toBe("muted");
  expect(muteState({ ...mute, end: "2026-11-23T09:00:00Z" }, T0)).toBe("ended");
  expect(muteState({ ...mute, start: "2026-11-23T09:00:01Z" }, T0)).toBe("planned");
});

test("the name of a rule is read from its text, and a copy has another", () => {
  expect(
    ruleNameOf(
      'format = 1\nname = "my-rule"\ntitle = "Busy CPUs"\nsubsystem = "cpu"\nversion = 1\nof = "cpu"\nabout = "What it means when this happens."\nsource = "Who says so"\n\n[inputs]\nidle = { meaning = "cpu.idle", unit = "%" }\n\n[limits]\nidle = { value = 5, unit = "%", source = "a first guess" }\n\n[[states]]\nstate = "amber"\nwhen = "idle < limit.idle"\nfor = "1 min"\naction = "What to do."\nexplanation = "The CPU has been busy for a minute."\n\n[[states]]\nstate = "green"\naction = "Nothing to do."\n',
    ),
  ).toBe("my-rule");
  expect(ruleNameOf("title = 3")).toBe("unnamed");
  expect(
    ruleNameOf(
      copyOfRule(
        'format = 1\nname = "my-rule"\ntitle = "Busy CPUs"\nsubsystem = "cpu"\nversion = 1\nof = "cpu"\nabout = "What it means when this happens."\nsource = "Who says so"\n\n[inputs]\nidle = { meaning = "cpu.idle", unit = "%" }\n\n[limits]\nidle = { value = 5, unit = "%", source = "a first guess" }\n\n[[states]]\nstate = "amber"\nwhen = "idle < limit.idle"\nfor = "1 min"\naction = "What to do."\nexplanation = "The CPU has been busy for a minute."\n\n[[states]]\nstate = "green"\naction = "Nothing to do."\n',
      ),
    ),
  ).toBe("my-rule-own");
});

describe("episodes of a host", () => {
  const episode = (source: string, instance: string, from: number, to: number, more: Partial<EpisodeInfo> = {}): EpisodeInfo => ({
    id: from,
    source,
    source_version: 1,
    title: source,
    host: "web1",
    instance,
    start: new Date(T0 + 1000 * from).toISOString(),
    last: new Date(T0 + 1000 * to).toISOString(),
    ended_at: new Date(T0 + 1000 * to).toISOString(),
    ended_by: "fine",
    colour: "amber",
    sentence: "",
    action: "",
    saw: [],
    acknowledged_at: null,
    acknowledged_by: "",
    note: "",
    exclusion_id: null,
    evidence: [],
    ...more,
  });

  test("are a row for each rule, the worst first, with instances that overlap as one", () => {
    const rows = toEpisodeRows(
      [
        episode("disk", "sdb", 0, 20),
        episode("mutex", "1", 0, 10),
        episode("mutex", "2", 5, 30, { colour: "red" }),
        episode("mutex", "1", 50, 60),
        episode("mutex", "1", 70, 80, { ended_by: "withdrawn" }),
      ],
      WINDOW.end,
    );
    expect(rows.map(({ source, runs }) => [source, runs.length])).toEqual([
      ["mutex", 2],
      ["disk", 1],
    ]);
    const [first] = rows[0]!.runs;
    expect(first).toMatchObject({ window: { start: T0, end: T0 + 31_000 }, colour: "red" });
    expect(first!.worst.instance).toBe("2");
  });

  test("last until now while they are open", () => {
    const [row] = toEpisodeRows([episode("mutex", "1", 0, 10, { ended_at: null, ended_by: null })], WINDOW.end);
    expect(row!.runs[0]!.window).toEqual(WINDOW);
  });

  test("of the comparison name their series", () => {
    const saw = [{ name: "iostat_linux util_pct my disk", value: 98, unit: "%", text: "98 %", at: "" }];
    const series = { stat: "iostat_linux", field: "util_pct", instance: "my disk" };
    expect(unusualSeries({ source: "comparison", saw })).toEqual(series);
    expect(unusualSeries({ source: "mutex", saw })).toBeNull();
    expect(unusualSeries({ source: "comparison", saw: [] })).toBeNull();
  });
});

test("a CPU is called one", () => {
  const episodes = [{ instance: "3" }, { instance: "5" }];
  expect(describeInstances({ episodes, n_instances: 2, of: "cpu" })).toBe("CPU 3, CPU 5");
  expect(describeInstances({ episodes: [{ instance: "sdb" }], n_instances: 1, of: "disk" })).toBe("sdb");
});
