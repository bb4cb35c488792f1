import { describe, expect, it } from "vitest";
import { CALENDAR_NAMES, DEFAULT_SHIFTS } from "../logic/calendar_range";
import { CHANGE_CHIPS } from "../logic/change_chips";
import { FINDING_KINDS, GROUP_SORTS, SUBSYSTEMS } from "../logic/group";
import { DEFAULT_LOOK, LEGENDS, type PanelLook } from "../logic/look";
import { parseOverlay } from "../logic/overlay";
import { parseShownInstant } from "../logic/process_report";
import type { InstanceChoice } from "../logic/panel";
import { STREAM_FILTERS } from "../logic/stream";
import { HOUR, parseIso, toDurationMs, toEpochMs, type Window } from "../logic/time";
import { ALIGNMENTS, type ComparisonView, decodeComparisonView, encodeComparisonView } from "./comparison";
import {
  ACCOUNT_TABS,
  BASELINE_TABS,
  decodeAccountsView,
  decodeBaselinesView,
  decodeHostView,
  decodeImportsView,
  decodeListView,
  DEFAULT_HOST_VIEW,
  encodeAccountsView,
  encodeBaselinesView,
  encodeHostView,
  encodeImportsView,
  namesRange,
  encodeListView,
  DEFAULT_PROCESS_LIST,
  HOST_TABS,
  type HostView,
} from "./url";
import { formatSearch, parseSearch } from "./search";
import { CLOCKS } from "./zone_choice";

/** A small random number generator, so that a failing state can be reproduced from its seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function pick<T>(random: () => number, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)]!;
}

const ODD_NAMES = [
  "0",
  "all",
  "4711/java",
  "c0t0d0",
  "a,b",
  "100%",
  "%2C",
  "x&y=z",
  "name with blanks",
  "ünïcode",
  "plus+plus",
  "dot.dot",
];

function randomWindow(random: () => number): Window {
  const start = Math.floor(random() * 4e12);
  return { start: toEpochMs(start), end: toEpochMs(start + 1 + Math.floor(random() * 1e9)) };
}

function randomChoice(random: () => number, canBeOne: boolean): InstanceChoice {
  const kinds: InstanceChoice[] = [
    { kind: "all" },
    { kind: "top", n: 1 + Math.floor(random() * 200) },
    { kind: "heatmap", field: pick(random, ["usr", "cpu_us"]) },
    { kind: "only", names: [pick(random, ODD_NAMES), pick(random, ODD_NAMES)] },
  ];
  return pick(random, canBeOne ? [...kinds, { kind: "one" }] : kinds);
}

function randomLook(random: () => number): PanelLook {
  return {
    ...DEFAULT_LOOK,
    legend: pick(random, LEGENDS),
    hidden: pick(random, [[], [`usr_pct ${pick(random, ODD_NAMES)}`, "sys_pct "]]),
    sort: pick(random, [null, { by: "p95", isDescending: true }]),
    isLog: random() < 0.5,
    low: pick(random, [null, 0, -12.5]),
  };
}

function randomHostView(random: () => number): HostView {
  const mark = random() < 0.5 ? null : randomWindow(random);
  return {
    clock: pick(random, CLOCKS),
    tab: pick(random, HOST_TABS),
    range: pick(random, [
      { kind: "live", length: toDurationMs(1_000 + Math.floor(random() * 6e8)) },
      { kind: "fixed", window: randomWindow(random) },
      { kind: "calendar", name: pick(random, CALENDAR_NAMES), shifts: DEFAULT_SHIFTS },
      { kind: "calendar", name: "last-shift", shifts: [7 * HOUR, 19.5 * HOUR] },
    ]),
    mark,
    markPanel: mark === null ? null : pick(random, [null, "mpstat_linux.cpu", "custom-0.2"]),
    looks: new Map(random() < 0.5 ? [] : [["mpstat_linux.cpu.2", randomLook(random)]]),
    panels: [...Array(Math.floor(random() * 4)).keys()].map(() => ({
      stat: pick(random, ["vmstat_linux", "iostat_linux_cpu"]),
      fields: pick(random, [["cpu_us"], ["r_per_s", "w_per_s"]]),
      choice: randomChoice(random, true),
    })),
    viewKeys: pick(random, [[], ["use"], ["use", "disks-2"]]),
    fullPanel: pick(random, [null, "vmstat_linux.cpu", "custom-0"]),
    explored: [...Array(Math.floor(random() * 3)).keys()].map(() => ({
      stat: pick(random, ["vmstat_linux", "iostat_linux_cpu"]),
      fields: pick(random, [[], ["cpu_us"], ["r_per_s", "w_per_s"]]),
      choice: pick(random, [null, randomChoice(random, true)]),
    })),
    filter: pick(random, STREAM_FILTERS),
    place: pick(random, [null, { streamId: 1, offset: 0 }, { streamId: 12, offset: 123_456_789_012 }]),
    choices: new Map(random() < 0.5 ? [] : [["mpstat_linux.cpu", randomChoice(random, false)]]),
    bandId: pick(random, [null, 3]),
    overlay: pick(random, ["", "yesterday", "week", "host:web,2"].map(parseOverlay)),
    streamId: random() < 0.5 ? null : 1 + Math.floor(random() * 1e6),
    process: pick(random, [
      null,
      { command: pick(random, ODD_NAMES), pid: null },
      { command: "sh", pid: 0 },
      { command: "a b", pid: 4711 },
    ]),
    processes: pick(random, [
      DEFAULT_PROCESS_LIST,
      { search: "a & b", sort: "cpu_wait", stat: "linux_command", open: "kworker/0:1" },
    ]),
    instant: pick(random, ["", "2026-11-21T06:58:57Z", "2026-11-21T06:58:57.250Z,ps_linux"].map(parseShownInstant)),
  };
}

function randomComparisonView(random: () => number): ComparisonView {
  return {
    clock: pick(random, CLOCKS),
    hosts: pick(random, [[], ["web1"], ["a host with blanks & signs", "web2"]]),
    incident: random() < 0.3 ? null : randomWindow(random),
    against: pick(random, [
      null,
      { kind: "baseline", id: 7, version: null } as const,
      { kind: "baseline", id: 7, version: 3 } as const,
      { kind: "window", window: randomWindow(random) } as const,
      { kind: "ago", ago: "week" } as const,
      { kind: "host", host: "web2" } as const,
      { kind: "group", group: "db & web" } as const,
    ]),
    divisor: pick(random, [null, "vmstat_sunos.faults_sy", "iostat_linux.r_per_s@sda"]),
    savedId: pick(random, [null, 12]),
    chips: pick(random, [[], ["likely"], [...CHANGE_CHIPS]]),
    sort: pick(random, GROUP_SORTS),
    align: pick(random, ALIGNMENTS),
    filter: pick(random, ["", "%usr -idle", "a=b&c"]),
    ask: pick(random, ["", "util", "sda & 100%"]),
    onlyHosts: pick(random, [[], ["web1", "web2"]]),
    subsystems: pick(random, [[], [...SUBSYSTEMS]]),
    kinds: pick(random, [[], [...FINDING_KINDS].slice(0, 3)]),
    pins: [...new Set([pick(random, ODD_NAMES), pick(random, ODD_NAMES)])].map((name) => `iostat_linux.util_pct@web1@${name}`),
  };
}

describe("links", () => {
  it("restore every generated view of a host", () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const view = randomHostView(randomFrom(seed));
      const link = formatSearch(encodeHostView(view));
      expect({ seed, ...decodeHostView(parseSearch(link)) }).toEqual({ seed, view, ignored: [] });
    }
  });

  it("restore every generated comparison", () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const view = randomComparisonView(randomFrom(seed));
      const link = formatSearch(encodeComparisonView(view));
      expect({ seed, ...decodeComparisonView(parseSearch(link)) }).toEqual({ seed, view, ignored: [] });
    }
  });

  it("restore lists and accounts", () => {
    for (const tab of ACCOUNT_TABS) {
      const view = { clock: "utc", tab, filter: "delete_host", onlyRefused: tab === "audit" } as const;
      expect(decodeAccountsView(parseSearch(formatSearch(encodeAccountsView(view))))).toEqual({ view, ignored: [] });
    }
    for (const tab of BASELINE_TABS) {
      const view = { clock: "utc", filter: "web", tab } as const;
      expect(decodeBaselinesView(parseSearch(formatSearch(encodeBaselinesView(view))))).toEqual({ view, ignored: [] });
    }
    const list = { clock: "local", filter: "web & db" } as const;
    expect(decodeListView(parseSearch(formatSearch(encodeListView(list))))).toEqual({ view: list, ignored: [] });
    for (const view of [
      { clock: "local", host: "", importId: null },
      { clock: "utc", host: "web1", importId: 12 },
    ] as const) {
      expect(decodeImportsView(parseSearch(formatSearch(encodeImportsView(view))))).toEqual({ view, ignored: [] });
    }
  });

  it("of version 1 still open", () => {
    const stored =
      "?v=1&from=2026-11-21T09:00:00Z&to=2026-11-21T10:00:00Z&tz=utc&mark=2026-11-21T09:35:00Z/2026-11-21T09:45:00Z" +
      "&panel=iostat_linux.util_pct.only:sdb&panel=vmstat_linux.cpu_us,cpu_sy.&instances=mpstat_linux.cpu.top:5";
    expect(decodeHostView(parseSearch(stored))).toEqual({
      ignored: [],
      view: {
        ...DEFAULT_HOST_VIEW,
        clock: "utc",
        range: { kind: "fixed", window: { start: parseIso("2026-11-21T09:00:00Z"), end: parseIso("2026-11-21T10:00:00Z") } },
        mark: { start: parseIso("2026-11-21T09:35:00Z"), end: parseIso("2026-11-21T09:45:00Z") },
        panels: [
          { stat: "iostat_linux", fields: ["util_pct"], choice: { kind: "only", names: ["sdb"] } },
          { stat: "vmstat_linux", fields: ["cpu_us", "cpu_sy"], choice: { kind: "one" } },
        ],
        choices: new Map([["mpstat_linux.cpu", { kind: "top", n: 5 }]]),
      },
    });
    const comparison = "?v=1&host=web1&baseline=3&incident=2026-11-21T09:35:00Z/2026-11-21T09:45:00Z&filter=disk";
    expect(decodeComparisonView(parseSearch(comparison))).toMatchObject({
      ignored: [],
      view: {
        hosts: ["web1"],
        against: { kind: "baseline", id: 3, version: null },
        sort: "anomaly_score",
        filter: "disk",
        chips: [],
      },
    });
    // Links that are older than the chips name a tab, or one of two lists.
    const chipsOf = (rest: string) => decodeComparisonView(parseSearch(`?host=a&ago=day${rest}`));
    expect(chipsOf("&tab=unmatched&list=changes")).toMatchObject({ ignored: [], view: { chips: ["appeared", "disappeared"] } });
    expect(chipsOf("&tab=likely").view.chips).toEqual(["likely"]);
    expect(chipsOf("&tab=findings&list=stories")).toMatchObject({ ignored: [], view: { chips: [] } });
    expect(chipsOf("&tab=nonsense").ignored).toEqual(["tab=nonsense"]);
    expect(decodeComparisonView(parseSearch("?host=a&baseline=1&ago=day&sort=name"))).toMatchObject({
      ignored: ["baseline, baseline_window, ago, other_host, group: give only one of them"],
      view: { against: { kind: "baseline", id: 1 }, sort: "name" },
    });
  });

  it("are readable: times and lists appear unencoded", () => {
    const window = { start: parseIso("2026-11-21T09:00:00Z")!, end: parseIso("2026-11-21T09:10:00Z")! };
    expect(formatSearch(encodeHostView({ ...DEFAULT_HOST_VIEW, range: { kind: "fixed", window }, mark: window }))).toBe(
      "?v=1&from=2026-11-21T09:00:00Z&to=2026-11-21T09:10:00Z&mark=2026-11-21T09:00:00Z/2026-11-21T09:10:00Z",
    );
  });

  it("that cannot be parsed show what was ignored, and apply the rest", () => {
    const { view, ignored } = decodeHostView(
      parseSearch("?last=yesterday&tab=streams&mark=2026-11-21T09:00:00/2026-11-21T09:10:00Z&panel=nonsense&colour=red&tz=mars"),
    );
    expect(view).toEqual({ ...DEFAULT_HOST_VIEW, tab: "streams" });
    expect([...ignored].sort()).toEqual([
      "colour=red",
      "last=yesterday",
      "mark=2026-11-21T09:00:00/2026-11-21T09:10:00Z",
      "panel=nonsense",
      "tz=mars",
    ]);
  });

  it("to raw output need a stream and an offset", () => {
    expect(decodeHostView(parseSearch("?tab=streams&only=rejected&stream=7&line=7:0"))).toEqual({
      view: { ...DEFAULT_HOST_VIEW, tab: "streams", filter: "rejected", streamId: 7, place: { streamId: 7, offset: 0 } },
      ignored: [],
    });
    for (const line of ["7", "7:", ":7", "0:7", "7:-1", "7:1:2", "a:b", "7:01"]) {
      expect(decodeHostView(parseSearch(`?line=${line}`))).toEqual({ view: DEFAULT_HOST_VIEW, ignored: [`line=${line}`] });
    }
    expect(decodeImportsView(parseSearch("?import=0&host=web1")).ignored).toEqual(["import=0"]);
  });

  it("with a window that ends before it starts fall back to the default and say so", () => {
    const { view, ignored } = decodeHostView(parseSearch("?from=2026-11-21T10:00:00Z&to=2026-11-21T09:00:00Z"));
    expect(view.range).toEqual(DEFAULT_HOST_VIEW.range);
    expect(ignored).toEqual(["from, to: no window"]);
  });

  it("from a newer normstat say so", () => {
    expect(decodeHostView(parseSearch("?v=2&last=1h")).ignored).toEqual([
      "v=2: the link is from a newer normstat; some of it may be missing",
    ]);
  });
});

describe("a link without a range", () => {
  it("lets the page choose where it opens", () => {
    expect(namesRange({})).toBe(false);
    expect(namesRange({ v: "1", tz: "utc" })).toBe(false);
    expect(namesRange({ last: "15m" })).toBe(true);
    expect(namesRange({ from: "yesterday" })).toBe(true);
    expect(namesRange(encodeHostView(DEFAULT_HOST_VIEW))).toBe(true);
  });
});
