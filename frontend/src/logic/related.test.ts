import { expect, test } from "vitest";
import { HEIGHT, linePath, shareOf, WIDTH } from "./related";

test("a line fills the box on its own scale, and gaps stay open", () => {
  expect(linePath([0, 10, null, 5])).toBe(`M0 42L80 2M${String(WIDTH)} 22L${String(WIDTH)} 22`);
  expect(linePath([1e9, 1e9])).toBe(`M0 ${String(HEIGHT / 2)}L${String(WIDTH)} ${String(HEIGHT / 2)}`);
  expect(linePath([null, null])).toBe("");
  expect(linePath([])).toBe("");
});

test("a window is where it is in the steps, and never outside of the box", () => {
  const starts = [0, 1000, 2000, 3000];
  expect(shareOf({ start: 1000, end: 2000 }, starts, 1000)).toEqual({ x: WIDTH / 4, width: WIDTH / 4 });
  expect(shareOf({ start: -5000, end: 9000 }, starts, 1000)).toEqual({ x: 0, width: WIDTH });
});
