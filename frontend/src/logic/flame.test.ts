import { describe, expect, test } from "vitest";
import {
  callersOf,
  changeOf,
  type FlameNodes,
  layOut,
  matchNames,
  moveTo,
  nodeAt,
  nodeOfPath,
  pathTo,
  shortenPath,
  startOf,
  toDiffNodes,
} from "./flame";
import { changeColour, colourOf, kindOf, packageOf } from "./flame_colour";
import { escapeXml, fitLabel, flameSvg } from "./flame_svg";
import { formatAmount, formatChange, timeShare } from "./flame_text";

/** The whole 100: main 100, of which read 60 and write 30; read calls copy 20. */
const NODES: FlameNodes = {
  names: ["", "main", "read", "write", "copy"],
  ids: [0, 10, 20, 30, 40],
  parent: [-1, 0, 1, 1, 2],
  name: [0, 1, 2, 3, 4],
  own: [0, 10, 40, 30, 20],
  total: [100, 100, 60, 30, 20],
  change: null,
};

describe("a layout", () => {
  test("puts siblings side by side under their parent", () => {
    const layout = layOut(NODES, 0, "wide");
    expect(layout.rows).toEqual([[0], [1], [2, 3], [4]]);
    expect([...layout.x]).toEqual([0, 0, 0, 0.6, 0]);
    expect([...layout.width]).toEqual([1, 1, 0.6, 0.3, 0.2]);
  });

  test("begins at a node, without those beside it", () => {
    const layout = layOut(NODES, 2, "wide");
    expect(layout.rows).toEqual([[2], [4]]);
    expect([...layout.depth]).toEqual([-1, -1, 0, -1, 1]);
    expect(layout.width[4]).toBeCloseTo(1 / 3);
  });

  test("orders siblings by name", () => {
    const renamed = { ...NODES, names: ["", "main", "write", "read", "copy"] };
    expect(layOut(renamed, 0, "name").rows[2]).toEqual([3, 2]);
  });

  test("finds what is at a place, and nothing beside", () => {
    const layout = layOut(NODES, 0, "wide");
    expect([nodeAt(layout, 2, 0.1), nodeAt(layout, 2, 0.6), nodeAt(layout, 2, 0.95), nodeAt(layout, 9, 0.1)]).toEqual([
      2,
      3,
      null,
      null,
    ]);
  });

  test("is walked with arrows", () => {
    const layout = layOut(NODES, 0, "wide");
    expect(moveTo(NODES, layout, 1, "in")).toBe(2);
    expect(moveTo(NODES, layout, 2, "right")).toBe(3);
    expect(moveTo(NODES, layout, 3, "right")).toBe(3);
    expect(moveTo(NODES, layout, 4, "out")).toBe(2);
    expect(moveTo(NODES, layOut(NODES, 2, "wide"), 2, "out")).toBe(2);
  });
});

describe("a path", () => {
  test("leads to a node and back", () => {
    expect(pathTo(NODES, 4)).toEqual([10, 20, 40]);
    expect(nodeOfPath(NODES, [10, 20, 40])).toBe(4);
    expect(nodeOfPath(NODES, [10, 40])).toBeNull();
    expect(callersOf(NODES, 4, 9)).toEqual(["read", "main"]);
  });

  test("is zoomed into before the server has answered", () => {
    const below: FlameNodes = { ...NODES };
    expect(startOf(below, [], [10, 20])).toBe(2);
    expect(startOf(below, [5], [5, 10])).toBe(1);
    expect(startOf(below, [5], [10])).toBe(0);
  });

  test("is cut in its middle", () => {
    expect(shortenPath([1, 2, 3], 3)).toEqual([1, 2, 3]);
    expect(shortenPath([1, 2, 3, 4, 5], 3)).toEqual([1, null, 4, 5]);
  });
});

test("a search finds parts of names in any case", () => {
  expect(matchNames(NODES.names, " READ | cop")).toEqual([false, false, true, false, true]);
  expect(matchNames(NODES.names, " | ")).toBeNull();
});

test("a difference shows what is on one side only", () => {
  const nodes = toDiffNodes(
    {
      names: ["", "gone", "new"],
      name_ids: [0, 1, 2],
      parent: [-1, 0, 0],
      name: [0, 1, 2],
      before_own: [0, 50, 0],
      before_total: [50, 50, 0],
      after_own: [0, 0, 100],
      after_total: [100, 0, 100],
      scale: { by: "total", factor: 2, before_s: null, after_s: null, before_whole: 50, after_whole: 100 },
    } as unknown as Parameters<typeof toDiffNodes>[0],
    "both",
  );
  expect(nodes.total).toEqual([100, 50, 50]);
  const { change } = nodes;
  expect(change && [changeOf(change, 1, true), changeOf(change, 2, true), changeOf(change, 0, false)]).toEqual([-100, 100, 0]);
});

describe("colours", () => {
  test("tell kinds of code", () => {
    expect(kindOf("vfs_read_[k]")).toBe("kernel");
    expect(kindOf("unix`idle+0x3b")).toBe("kernel");
    expect(kindOf("[libc.so.6]")).toBe("unknown");
    expect(kindOf("java.util.concurrent.locks.LockSupport.park")).toBe("managed");
    expect(kindOf("std::sort<int>(int*, int*)")).toBe("scoped");
    expect(kindOf("main")).toBe("native");
  });

  test("are those of the package", () => {
    expect(packageOf("genunix`read")).toBe("genunix");
    expect(packageOf("a::b::run(int)")).toBe("a::b");
    expect(colourOf("a::b::run", "light")).toBe(colourOf("a::b::stop", "light"));
  });

  test("are red for more and blue for less", () => {
    expect(changeColour(5, 5, "light")).toMatch(/^hsl\(8 /);
    expect(changeColour(-5, 5, "light")).toMatch(/^hsl\(212 /);
    expect(changeColour(0, 5, "light")).toBe(changeColour(0, 0, "light"));
  });
});

describe("a file", () => {
  const hostile: FlameNodes = { ...NODES, names: ["", "<script>alert(1)</script>", 'a"&\u0000\ud800', "write", "copy"] };

  test("has every name as text", () => {
    const svg = flameSvg(hostile, layOut(hostile, 0, "wide"), {
      title: "<b>",
      note: "&",
      width: 800,
      isUp: true,
      fill: () => "#fff",
      label: (index) => hostile.names[hostile.name[index] ?? 0] ?? "",
      describe: () => "<i>",
    });
    expect(svg).not.toMatch(/<script|<b>|<i>|\u0000|\ud800/);
    expect(svg).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(svg.match(/<g>/g)).toHaveLength(5);
  });

  test("escapes and cuts", () => {
    expect(escapeXml(`'"<&>😀`)).toBe("&#39;&quot;&lt;&amp;&gt;😀");
    expect([fitLabel("function", 40, 7), fitLabel("function", 20, 7), fitLabel("run", 40, 7)]).toEqual([
      "func…".slice(0, 3) + "…",
      "",
      "run",
    ]);
  });
});

test("amounts have units and changes have signs", () => {
  expect(formatAmount(12_300_000, { title: "time off the CPU", unit: "us" })).toBe("12.3 s");
  expect(formatAmount(4711, { title: "samples", unit: "" })).toBe("4,711 samples");
  expect(formatChange(-4, { title: "samples", unit: "" })).toBe("−4 samples");
  expect(timeShare(5_000_000, "us", 10)).toBe(0.5);
  expect([timeShare(5, "", 10), timeShare(5, "us", null)]).toEqual([null, null]);
});
