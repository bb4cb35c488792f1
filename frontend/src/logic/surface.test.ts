import { describe, expect, it } from "vitest";
import { gridOf } from "./surface";

describe("the grid of small graphs in a picture", () => {
  it("fills the width with up to three beside each other", () => {
    expect(gridOf(1, 960).cell.width).toBe(960);
    expect(gridOf(2, 960).cell.width).toBe(474);
    expect([gridOf(3, 960), gridOf(7, 960)].map(({ cell }) => cell.width)).toEqual([312, 312]);
  });

  it("gives each graph a place of its own, inside the picture", () => {
    const { cell, caption, height, placeOf } = gridOf(7, 960);
    const places = Array.from({ length: 7 }, (_, index) => placeOf(index));
    expect(new Set(places.map(({ x, y }) => `${String(x)} ${String(y)}`)).size).toBe(7);
    expect(Math.max(...places.map(({ x }) => x)) + cell.width).toBeLessThanOrEqual(960);
    expect(Math.max(...places.map(({ y }) => y)) + cell.height + caption).toBe(height);
  });
});
