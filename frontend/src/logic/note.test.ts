import { describe, expect, it } from "vitest";
import { emptyNote, isComplete, moved, NOTE_KINDS } from "./note";

const START = { host: "", start: "2026-11-28T00:00:00Z", end: "2026-11-28T01:00:00Z" };

describe("notes", () => {
  it.each(NOTE_KINDS)("of kind %s begin incomplete", (kind) => {
    expect(isComplete(emptyNote(kind, START))).toBe(false);
  });

  it("are complete once what they show is chosen", () => {
    expect(isComplete({ kind: "artefact", artefact: 3, limit: 20, is_frozen: true, title: "", comment: "" })).toBe(true);
    expect(isComplete({ kind: "artefact_diff", baseline: 3, incident: 3, limit: 20, title: "", comment: "" })).toBe(false);
    expect(isComplete(emptyNote("facts", { ...START, host: "web1" }))).toBe(true);
  });

  it("move to a place, and stay inside the list", () => {
    expect(moved([1, 2, 3], 3, 0)).toEqual([3, 1, 2]);
    expect(moved([1, 2, 3], 1, 1)).toEqual([2, 1, 3]);
    expect(moved([1, 2, 3], 1, 9)).toEqual([2, 3, 1]);
    expect(moved([1, 2, 3], 2, -1)).toEqual([2, 1, 3]);
  });
});
