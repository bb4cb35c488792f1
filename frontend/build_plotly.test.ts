import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { namesOfD3, trimD3 } from "./build_plotly";

const SOURCE = `!function() {
  var d3 = { version: "1" };
  d3.map = function(x) { return d3_map(x); };
  function d3_map(x) { return d3_class(x); }
  function d3_class(x) { return x + 1; }
  d3.geo = {};
  d3.geo.area = function(x) { return d3_map(x) * 2; };
  d3.scale = {};
  d3.scale.linear = function() { return d3_linear; };
  var d3_linear = d3.linear = 7;
  d3.scale.log = function() { return d3_log(); };
  function d3_log() { return 8; }
  this.d3 = d3;
}.apply(self);`;

test("d3 keeps what the used names need, and no other", () => {
  const trimmed = trimD3(SOURCE, new Set(["map", "scale", "scale.linear"]));
  expect(trimmed).not.toMatch(/geo|d3_log/);
  const self: { d3?: { map: (x: number) => number; scale: { linear: () => number } } } = {};
  runInNewContext(trimmed, { self });
  expect([self.d3?.map(1), self.d3?.scale.linear()]).toEqual([2, 7]);
  expect(() => trimD3("var d3 = {};", new Set())).toThrow("trimD3");
});

test("the d3 of Plotly is trimmed to less than half and still runs", () => {
  const whole = readFileSync(new URL("node_modules/@plotly/d3/d3.js", import.meta.url), "utf8");
  const trimmed = trimD3(whole, new Set(["scale", "scale.linear", "extent"]));
  expect(trimmed.length).toBeLessThan(whole.length / 2);
  const self: Record<string, unknown> = { document: null };
  const module = { exports: {} as { scale: { linear: () => { domain: (d: number[]) => (x: number) => number } } } };
  runInNewContext(trimmed, { self, module, document: null });
  expect(module.exports.scale.linear().domain([0, 10])(5)).toBe(0.5);
  expect(module.exports).not.toHaveProperty("geo");
});

test("what a module uses of d3 is found", () => {
  const code = `var d3 = require('@plotly/d3'); d3.select(x); var s = d3.scale.linear(); require("@plotly/d3").round(1);`;
  expect(namesOfD3(code)).toEqual(["select", "scale.linear", "round"]);
});
