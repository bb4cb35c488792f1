import { describe, expect, it } from "vitest";
import { emptyNote, moved, NOTE_KINDS, noteProblems } from "./note";

const START = { host: "", start: "2026-11-28T00:00:00Z", end: "2026-11-28T01:00:00Z" };

describe("notes", () => {
  it.each(NOTE_KINDS)("of kind %s begin incomplete", (kind) => {
    expect(Object.keys(noteProblems(emptyNote(kind, START)))).not.toEqual([]);
  });

  it("are complete once what they show is chosen", () => {
    expect(noteProblems({ kind: "artefact", artefact: 3, limit: 20, is_frozen: true, title: "", comment: "" })).toEqual({});
    expect(noteProblems(emptyNote("facts", { ...START, host: "web1" }))).toEqual({});
  });

  it("compare two artefacts", () => {
    const note = { kind: "artefact_diff", baseline: 3, incident: 3, limit: 20, title: "", comment: "" } as const;
    expect(noteProblems(note)).toEqual({ "note.incident": "Choose another artefact than the baseline" });
    expect(noteProblems({ ...note, incident: 0 })).toEqual({ "note.incident": "Choose an artefact" });
    expect(noteProblems({ ...note, incident: 4 })).toEqual({});
  });

  it("move to a place, and stay inside the list", () => {
    expect(moved([1, 2, 3], 3, 0)).toEqual([3, 1, 2]);
    expect(moved([1, 2, 3], 1, 1)).toEqual([2, 1, 3]);
    expect(moved([1, 2, 3], 1, 9)).toEqual([2, 3, 1]);
    expect(moved([1, 2, 3], 2, -1)).toEqual([2, 1, 3]);
  });
});
