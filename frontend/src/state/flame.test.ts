import { expect, test } from "vitest";
import { decodeFlame, DEFAULT_FLAME, encodeFlame, flameOf, type FlameView } from "./flame";

const FULL: FlameView = {
  part: "4:0,5:1",
  tab: "functions",
  column: "period",
  direction: "up",
  threads: "each",
  thread: "Web Content/99~.;",
  search: "read|a~b. ü",
  focus: [12, 5, 7],
  called: 3,
  isFlame: true,
  order: "name",
  byTotal: true,
  widths: "after",
  scaling: "none",
};

test("a view comes back from the URL", () => {
  expect(decodeFlame(encodeFlame(FULL))).toEqual(FULL);
  expect(encodeFlame({ ...DEFAULT_FLAME, part: "2" })).toBe("");
  expect(encodeFlame({ ...DEFAULT_FLAME, part: "2", focus: [1, 2], direction: "up" })).toBe("part.2~dir.up~focus.1.2");
  expect(decodeFlame(encodeFlame({ ...FULL, search: "half \ud800" }))?.search).toBe("half \ufffd");
});

test("what cannot be read is not half read", () => {
  for (const text of [
    "",
    "part",
    "part.x",
    "part.1~dir.sideways",
    "part.1~focus.1.x",
    "part.1~find.%E0%A4%A",
    "part.1~by.a b",
    "part.1~function.-1",
  ]) {
    expect(decodeFlame(text), text).toBeNull();
  }
});

test("a link speaks of one part", () => {
  expect(flameOf("part.2~dir.up", "2").direction).toBe("up");
  expect(flameOf("part.2~dir.up", "3")).toEqual({ ...DEFAULT_FLAME, part: "3" });
  expect(flameOf(undefined, "3").part).toBe("3");
  expect(flameOf(["a", "b"], "3").part).toBe("3");
});
