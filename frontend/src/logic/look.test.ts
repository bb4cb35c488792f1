import { expect, test } from "vitest";
import {
  DEFAULT_LOOK,
  formatLook,
  formatPanelLook,
  fullHeight,
  legendKind,
  type PanelLook,
  parseBound,
  parseLook,
  parsePanelLook,
  toHeight,
  withLook,
  withoutHeights,
  withoutPanel,
} from "./look";

const LOOK: PanelLook = {
  legend: "table",
  sort: { by: "p95", isDescending: true },
  hidden: ["usr_pct cpu:0,1", "sys_pct "],
  isLog: true,
  low: -1.5,
  high: 1e21,
  bytes: "binary",
  isStacked: false,
  isStep: true,
  hasReferences: false,
  height: 420,
};

test("a look comes back from the link", () => {
  expect(parseLook(formatLook(LOOK))).toEqual(LOOK);
  expect(formatLook(DEFAULT_LOOK)).toBe("");
  expect(parsePanelLook(formatPanelLook(["custom-0.2", LOOK]))).toEqual(["custom-0.2", LOOK]);
  expect(formatLook({ ...DEFAULT_LOOK, legend: "compact", sort: { by: "last", isDescending: false } })).toBe("compact:sort,last");
});

test.each([
  "",
  "tables",
  "sort,median",
  "low,",
  "low,x",
  "hide",
  "hide,%",
  "low,2:high,1",
  "low,Infinity",
  "height,119",
  "height,1201",
  "height,0300",
])("%j is no look", (text) => {
  expect(parseLook(text)).toBeNull();
});

test("one or two lines need no table, unless it is asked for", () => {
  expect(legendKind(DEFAULT_LOOK)).toBe("compact");
  expect(legendKind({ ...DEFAULT_LOOK, legend: "table" })).toBe("table");
});

test("a look like the default leaves the link", () => {
  const looks = withLook(new Map(), "a.b", { isLog: true });
  expect(looks.get("a.b")?.isLog).toBe(true);
  expect(withLook(looks, "a.b", { isLog: false }).size).toBe(0);
});

test("looks of added panels move up with their panels", () => {
  const looks = new Map([
    ["custom-0", { ...DEFAULT_LOOK, isLog: true }],
    ["custom-1.2", { ...DEFAULT_LOOK, isStep: true }],
    ["vmstat_linux.cpu", LOOK],
  ]);
  expect([...withoutPanel(looks, 0).keys()]).toEqual(["custom-0.2", "vmstat_linux.cpu"]);
  expect([...withoutPanel(looks, 1).keys()]).toEqual(["custom-0", "vmstat_linux.cpu"]);
});

test("ends of an axis are plain numbers", () => {
  expect(parseBound(" 12.5 ")).toBe(12.5);
  expect(parseBound("1e6")).toBe(1_000_000);
  expect(parseBound("0x10")).toBeNull();
  expect(parseBound("")).toBeNull();
});

test("heights given by hand stay within limits, and go when a view has them", () => {
  expect([toHeight(5), toHeight(200.4), toHeight(9000)]).toEqual([120, 200, 1200]);
  expect([fullHeight(1000, 186), fullHeight(400, 186)]).toEqual([615, 186]);
  const looks = new Map([
    ["a.b", { ...DEFAULT_LOOK, height: 300 }],
    ["c.d", { ...DEFAULT_LOOK, height: 300, isLog: true }],
  ]);
  expect(withoutHeights(looks)).toEqual(new Map([["c.d", { ...DEFAULT_LOOK, isLog: true }]]));
});
