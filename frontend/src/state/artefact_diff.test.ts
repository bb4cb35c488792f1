import { describe, expect, it } from "vitest";
import { type ArtefactDiffView, decodeArtefactDiff, DEFAULT_ARTEFACT_DIFF, encodeArtefactDiff } from "./artefact_diff";
import { formatSearch, parseSearch } from "./search";

describe("the address of a diff of two artefacts", () => {
  it("holds all that a colleague must see", () => {
    const view: ArtefactDiffView = {
      clock: "utc",
      before: 7,
      after: 12,
      pair: 2,
      column: "total_ns",
      group: ["lock", "caller"],
      normalisation: "raw",
      search: "malloc & <b>",
      queueLimit: 512,
      page: 3,
      flame: "dir.up",
    };
    expect(decodeArtefactDiff(parseSearch(formatSearch(encodeArtefactDiff(view))))).toEqual({ view, ignored: [] });
    expect(encodeArtefactDiff({ ...DEFAULT_ARTEFACT_DIFF, before: 1, after: 2 })).toEqual({ before: "1", after: "2" });
  });

  it("says what it could not read", () => {
    const { view, ignored } = decodeArtefactDiff(parseSearch("?before=-1&after=2&normalisation=best&limit=0&colour=red"));
    expect(view).toEqual({ ...DEFAULT_ARTEFACT_DIFF, after: 2 });
    expect(ignored).toEqual(["before=-1", "normalisation=best", "limit=0", "colour=red"]);
  });
});
