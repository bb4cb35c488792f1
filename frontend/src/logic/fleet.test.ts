import { describe, expect, it } from "vitest";
import type { FleetHost, FleetLine } from "./api";
import {
  bandBox,
  describeLine,
  describeRibbon,
  formatShort,
  groupsOf,
  groupWord,
  heightsOf,
  moveRow,
  type OnHosts,
  overlayLink,
  pathOf,
  removableTags,
  runsOf,
  searchFleet,
  sliceOf,
  sliderEnd,
  SLIDER_MINUTES,
  sliderPlace,
  sortFleet,
  tagsOf,
  tagWord,
  toItems,
  withWord,
} from "./fleet";
import { madeFleetHost as host } from "../testing/host";
import { DAY, HOUR, MINUTE, toEpochMs } from "./time";

const LINE: FleetLine = {
  resource: "disk",
  label: "vda busy",
  unit: "%",
  now: 98,
  low: 0,
  high: 6,
  top: 100,
  heights: "-0Zz",
  level: 3,
};

const NOTHING_ON: OnHosts = new Map();
const names = (hosts: readonly FleetHost[]): string => hosts.map(({ name }) => name).join(" ");

describe("the order of the fleet", () => {
  const hosts = [
    host("calm10"),
    host("calm9", { change_ratio: 0.4 }),
    host("unknown", { verdict: "no_baseline", change_ratio: null }),
    host("worst", { change_ratio: 40, level: 3 }),
    host("gone", { state: "silent", verdict: "no_samples", change_ratio: null, last_sample_ms: -5 }),
    host("odd", { change_ratio: 2, level: 1, lines: [LINE] }),
  ];

  it("is: unusual, silent, without a baseline, normal; a host that cannot be judged never counts as normal", () => {
    expect(names(sortFleet(hosts, "unusual", NOTHING_ON))).toBe("worst odd gone unknown calm9 calm10");
  });

  it("is by the worst rule first when it is red or black; an amber one counts as unusual", () => {
    const on = new Map([
      ["calm10", { host: "calm10", colour: "black", n: 1 }],
      ["calm9", { host: "calm9", colour: "amber", n: 2 }],
      ["unknown", { host: "unknown", colour: "red", n: 1 }],
    ]);
    expect(names(sortFleet(hosts, "unusual", on))).toBe("calm10 unknown worst odd calm9 gone");
    expect(names(sortFleet(hosts, "state", on))).toBe("calm10 unknown calm9 gone odd worst");
    expect(names(sortFleet(hosts, "name", on))).toBe("calm9 calm10 gone odd unknown worst");
  });

  it("is natural by name, and the same for the same hosts in any order", () => {
    expect(names(sortFleet(hosts, "name", NOTHING_ON))).toBe("calm9 calm10 gone odd unknown worst");
    expect(names(sortFleet([...hosts].reverse(), "unusual", NOTHING_ON))).toBe(names(sortFleet(hosts, "unusual", NOTHING_ON)));
  });

  it("is by value for a resource, hosts without it last; by the oldest sample; by state", () => {
    expect(sortFleet(hosts, "disk", NOTHING_ON)[0]?.name).toBe("odd");
    expect(sortFleet(hosts, "seen", NOTHING_ON)[0]?.name).toBe("gone");
    expect(sortFleet(hosts, "state", NOTHING_ON)[0]?.name).toBe("gone");
    const memory = (now: number | null): readonly FleetLine[] => [{ ...LINE, resource: "memory", now }];
    const some = [host("much", { lines: [...memory(9)] }), host("little", { lines: [...memory(1)] }), host("none")];
    expect(names(sortFleet(some, "memory", NOTHING_ON))).toBe("little much none");
  });
});

describe("the search", () => {
  const hosts = [
    host("web1", { groups: ["Web servers"], sentence: "disk vda busy 98 %" }),
    host("db1", { state: "silent", os: "SunOS 5.11" }),
  ];

  it.each([
    ["", "web1 db1"],
    ["web", "web1"],
    ["sunos db", "db1"],
    ["vda", "web1"],
    ["group:webservers", "web1"],
    ["state:silent", "db1"],
    ["web db", ""],
  ])("%s finds %s", (text, expected) => {
    expect(names(searchFleet(hosts, text))).toBe(expected);
  });

  it("of a group is the word of its menu", () => {
    expect(groupsOf(hosts)).toEqual([{ name: "Web servers", n: 1 }]);
    expect(names(searchFleet(hosts, groupWord("Web servers")))).toBe("web1");
  });
});

describe("recorded hosts", () => {
  const recorded = host("old", { state: "recorded" });

  it("are folded apart beside others, and open when there are only such", () => {
    expect(toItems([host("a"), recorded], false)).toEqual([
      { kind: "host", host: host("a") },
      { kind: "fold", n: 1, isOpen: false },
    ]);
    expect(toItems([recorded, host("a")], true).map((item) => (item.kind === "host" ? item.host.name : "fold"))).toEqual([
      "a",
      "fold",
      "old",
    ]);
    expect(toItems([recorded], false)).toEqual([{ kind: "host", host: recorded }]);
  });
});

describe("a ribbon", () => {
  it("is runs of equal minutes", () => {
    expect(runsOf("00--3?.")).toEqual([
      { cell: "0", start: 0, length: 2 },
      { cell: "none", start: 2, length: 2 },
      { cell: "3", start: 4, length: 1 },
      { cell: "unjudged", start: 5, length: 1 },
      { cell: "unread", start: 6, length: 1 },
    ]);
  });

  it("says in words what it shows, the worst first", () => {
    expect(describeRibbon("0033--")).toBe("Last hour: 2 min very unusual, 2 min within normal variation, 2 min no samples");
  });
});

describe("a sparkline", () => {
  it("has a height for each letter, and none without samples", () => {
    expect(heightsOf("-0z")).toEqual([null, 0, 1]);
  });

  it("breaks where minutes have no samples, and shows one between gaps", () => {
    expect(pathOf("0z--z", 40, 22)).toBe("M0.0 21.0L10.0 1.0M40.0 1.0h1.5");
  });

  it("has its band in the same box, or none without a baseline", () => {
    expect(bandBox({ ...LINE, low: 0, high: 50 }, 22)).toEqual({ y: 11, height: 10 });
    expect(bandBox({ ...LINE, low: null }, 22)).toBeNull();
  });

  it("says its value and what is normal", () => {
    expect(describeLine(LINE)).toBe("vda busy: 98 %, normally 0 % to 6 %");
    expect(describeLine({ ...LINE, now: null, low: null })).toBe("vda busy: no samples in the last minutes");
  });

  it.each([
    [98.4, "%", "98 %"],
    [1_894_930, "KiB/s", "1.8 GiB/s"],
    [6.25, "processes", "6.3"],
    [0.123, "ms", "123 us"],
    [null, "%", "–"],
  ])("prints %s %s as %s", (value, unit, expected) => {
    expect(formatShort(value, unit)).toBe(expected);
  });
});

describe("virtual rows", () => {
  it("are those in view and a few beyond, never outside the list", () => {
    expect(sliceOf(0, 920, 46, 1000)).toEqual({ first: 0, last: 36 });
    expect(sliceOf(4600, 920, 46, 1000)).toEqual({ first: 92, last: 128 });
    expect(sliceOf(99_999, 920, 46, 10)).toEqual({ first: 2, last: 10 });
  });

  it("are moved over by keys within the list", () => {
    expect(moveRow("ArrowDown", 0, 3, 10)).toBe(1);
    expect(moveRow("ArrowUp", 0, 3, 10)).toBe(0);
    expect(moveRow("End", 0, 3, 10)).toBe(2);
    expect(moveRow("PageDown", 0, 30, 10)).toBe(10);
    expect(moveRow("x", 0, 3, 10)).toBeNull();
  });
});

describe("the time slider", () => {
  const now = toEpochMs(Date.UTC(2026, 10, 23, 7, 30, 20));

  it("ends now, and around a moment that is too old for it", () => {
    expect(sliderEnd(null, now)).toBe(now - 20_000);
    expect(sliderEnd(toEpochMs(now - HOUR), now)).toBe(now - 20_000);
    const old = toEpochMs(now - 3 * DAY);
    expect(sliderPlace(old, sliderEnd(old, now))).toBe(-SLIDER_MINUTES / 2);
    expect(sliderPlace(toEpochMs(now - 31 * MINUTE), sliderEnd(null, now))).toBe(-31);
  });
});

it("the overlay of hosts is an address with their names", () => {
  expect(overlayLink(["a", "b,c"], null)).toBe("/graph?hosts=a,b%2Cc");
});

describe("tags", () => {
  const web = host("web1", { tags: ["DB-old", "prod"], agent_tags: ["prod"] });
  const db = host("db1", { tags: ["db"] });

  it("are found by any word, and as a whole with tag:", () => {
    const names = (text: string) => searchFleet([web, db], text).map(({ name }) => name);
    expect(names("db-o")).toEqual(["web1"]);
    expect(names(tagWord("DB-old"))).toEqual(["web1"]);
    expect(names(tagWord("db"))).toEqual(["db1"]);
    expect(names("tag:prod tag:db")).toEqual([]);
  });

  it("are added to a search once", () => {
    expect(withWord("linux", "tag:db")).toBe("linux tag:db");
    expect(withWord("TAG:db linux", "tag:db")).toBe("TAG:db linux");
    expect(withWord("", "tag:db")).toBe("tag:db");
  });

  it("are counted, and those of agents can only be taken by their configuration", () => {
    expect(tagsOf([web, db, host("x", { tags: ["db"] })])).toEqual([
      { name: "db", n: 2 },
      { name: "DB-old", n: 1 },
      { name: "prod", n: 1 },
    ]);
    expect(removableTags([web, db])).toEqual({
      given: [
        { name: "db", n: 1 },
        { name: "DB-old", n: 1 },
      ],
      ofAgents: [{ name: "prod", n: 1 }],
    });
  });
});
