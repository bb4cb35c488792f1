import { expect, test } from "vitest";
import type { FactChange, HostFact } from "./api";
import { factDifferences } from "./fact_difference";
import { toEpochMs } from "./time";

const at = (minute: number) => toEpochMs(Date.UTC(2026, 10, 21, 9, minute));
const iso = (minute: number) => new Date(at(minute)).toISOString();

function fact(key: string, value: string): HostFact {
  return { key, item: "", label: key, section: "System", value, text: `${value} units`, since: iso(0) };
}

function change(key: string, minute: number, before: string | null, after: string | null): FactChange {
  const text = (value: string | null) => value && `${value} units`;
  return {
    key,
    item: "",
    label: key,
    kind: "setting",
    at: iso(minute),
    not_before: iso(minute),
    before,
    before_text: text(before),
    after,
    after_text: text(after),
    text: "",
  };
}

const HOST = {
  known_since: iso(0),
  facts: [fact("cpus", "4"), fact("memory", "8"), fact("mount", "1")],
  changes: [
    change("memory", 40, "12", "8"),
    change("memory", 20, "16", "12"),
    change("mount", 15, null, "1"),
    change("swap", 10, "2", null),
  ],
};

test("facts are compared as they were at both instants, with later changes undone", () => {
  const found = factDifferences({ of: HOST, at: at(5) }, { of: HOST, at: at(30) });
  expect(found?.map(({ baseline, incident }) => [baseline?.key ?? incident?.key, baseline?.text, incident?.text])).toEqual([
    ["memory", "16 units", "12 units"],
    ["swap", "2 units", undefined],
    ["mount", undefined, "1 units"],
  ]);
  expect(factDifferences({ of: HOST, at: at(21) }, { of: HOST, at: at(30) })).toEqual([]);
});

test("what was not reported yet is not known, rather than the same", () => {
  expect(factDifferences({ of: HOST, at: at(-1) }, { of: HOST, at: at(30) })).toBeNull();
  expect(factDifferences({ of: HOST, at: at(5) }, { of: { ...HOST, known_since: null }, at: at(30) })).toBeNull();
});
