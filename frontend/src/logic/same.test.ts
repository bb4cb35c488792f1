import { expect, it } from "vitest";
import { keepSame } from "./same";

it("keeps the members that have the same value, in maps and lists too", () => {
  const before = { looks: new Map([["a", { low: 1 }]]), panels: [{ title: "x" }], hidden: new Set(["a"]), mark: null, n: 1 };
  const same = { ...before, looks: new Map([["a", { low: 1 }]]), panels: [{ title: "x" }], hidden: new Set(["a"]), n: 2 };
  const kept = keepSame(before, same);
  expect(kept).toEqual(same);
  expect([kept.looks, kept.panels, kept.hidden]).toEqual([before.looks, before.panels, before.hidden]);
  expect([kept.looks === before.looks, kept.panels === before.panels, kept.hidden === before.hidden]).toEqual([true, true, true]);
  const other = { ...before, looks: new Map([["a", { low: 2 }]]), hidden: new Set(["b"]) };
  expect(keepSame(before, other)).toBe(other);
});
