import { describe, expect, it } from "vitest";
import type { SearchHit } from "./api";
import { groupItems, nextRow, type OwnItem, rankOwn, scoreOf, splitWords } from "./finder";
import cases from "./finder_cases.json";

describe("how well words fit", () => {
  it.each(cases)("$query in $names, $texts: $score", ({ query, names, texts, score }) => {
    expect(scoreOf(splitWords(query), { names, texts })).toBe(score);
  });
});

const OWN: readonly OwnItem[] = [
  { key: "hosts", kind: "page", name: "Hosts", hint: "", words: "fleet machines" },
  { key: "storage", kind: "page", name: "Storage", hint: "", words: "disk space retention" },
  { key: "live", kind: "action", name: "Go live or pause", hint: "l", words: "follow" },
];

function hit(change: Partial<SearchHit>): SearchHit {
  return {
    kind: "metric",
    name: "%iowait",
    detail: "CPU time",
    score: 0,
    host: "web1",
    n_hosts: 0,
    stat: "mpstat_linux",
    field: "iowait_pct",
    unit: "%",
    spec: "mpstat_linux",
    instance: null,
    pid: null,
    id: null,
    at: null,
    ...change,
  };
}

describe("the list", () => {
  it("has all pages and actions without words, in their order", () => {
    expect(rankOwn(OWN, " ").map(({ key }) => key)).toEqual(["hosts", "storage", "live"]);
  });

  it("finds a page by its name before one by other words", () => {
    expect(
      rankOwn([...OWN, { key: "x", kind: "page", name: "Disk", hint: "", words: "" }], "disk").map(({ key }) => key),
    ).toEqual(["x", "storage"]);
  });

  it("begins with the kind of the best hit; metrics that are not sent come last, however well they fit", () => {
    const hits = [
      hit({ kind: "other_metric", host: "db1", n_hosts: 3, name: "iowait" }),
      hit({ kind: "metric", score: 4, name: "wa" }),
      hit({ kind: "host", name: "iowait1", host: "iowait1", score: 1, field: null, unit: null }),
    ];
    const groups = groupItems([], { hits, counts: [{ kind: "metric", n_found: 40 }] }, "web1");
    expect(groups.map(({ kind, title, n_found }) => [kind, title, n_found])).toEqual([
      ["host", "Hosts", 1],
      ["metric", "Metrics", 40],
      ["other_metric", "Metrics that web1 does not send", 1],
    ]);
    expect(groups[2]?.items[0]?.hint).toBe("% · on 3 hosts");
    expect(groups[1]?.items[0]?.hint).toBe("%");
  });

  it("names the instance of a metric, and the host where it is another one", () => {
    const [group] = groupItems([], { hits: [hit({ instance: "sda", name: "%util", host: "db1" })], counts: [] }, null);
    expect(group?.items[0]).toMatchObject({ name: "sda %util", hint: "% · db1" });
  });

  it("cuts a group only where there are others", () => {
    const many = Array.from({ length: 10 }, (_, n) => hit({ kind: "host", name: `web${String(n)}`, host: `web${String(n)}` }));
    expect(groupItems([], { hits: many, counts: [] }, null)[0]?.items).toHaveLength(10);
    expect(groupItems([], { hits: [...many, hit({})], counts: [] }, null)[0]?.items).toHaveLength(6);
    expect(new Set(groupItems([], { hits: many, counts: [] }, null)[0]?.items.map(({ key }) => key)).size).toBe(10);
  });
});

describe("arrow keys", () => {
  it.each([
    [0, "ArrowUp", 3, 2],
    [2, "ArrowDown", 3, 0],
    [0, "PageDown", 20, 8],
    [3, "PageUp", 20, 0],
    [1, "x", 3, null],
    [0, "ArrowDown", 0, null],
  ])("from %i, %s of %i rows: %s", (active, key, n, expected) => {
    expect(nextRow(active, key, n)).toBe(expected);
  });
});
