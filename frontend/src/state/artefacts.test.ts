import { describe, expect, it } from "vitest";
import {
  type ArtefactListView,
  type ArtefactView,
  decodeArtefactList,
  decodeArtefactView,
  DEFAULT_ARTEFACT_LIST,
  DEFAULT_ARTEFACT_VIEW,
  DEFAULT_PART,
  encodeArtefactList,
  encodeArtefactView,
} from "./artefacts";
import { formatSearch, parseSearch } from "./search";

describe("the link of the list of artefacts", () => {
  it("holds everything that the list shows", () => {
    const view: ArtefactListView = {
      clock: "utc",
      hosts: ["web1", "db2"],
      tools: ["lockstat"],
      search: "malloc lock",
      from: "now-7d",
      to: "2026-11-22 10:00",
      page: 2,
    };
    expect(decodeArtefactList(parseSearch(formatSearch(encodeArtefactList(view))))).toEqual({ view, ignored: [] });
    expect(encodeArtefactList(DEFAULT_ARTEFACT_LIST)).toEqual({});
  });

  it("says what it could not read", () => {
    expect(decodeArtefactList({ page: "0", tool: "", colour: "red" })).toEqual({
      view: DEFAULT_ARTEFACT_LIST,
      ignored: ["tool=", "page=0", "colour=red"],
    });
  });
});

describe("the link of an artefact", () => {
  it("holds how each part is shown, also with keys that look like markup or a link", () => {
    const view: ArtefactView = {
      clock: "utc",
      parts: new Map([
        [0, { ...DEFAULT_PART, order: "total_ns", group: ["lock", "record length (kB)"], search: "a&b=c", page: 3 }],
        [2, { ...DEFAULT_PART, report: 4, key: "<b>&key=x?\n,usecs" }],
      ]),
      textAt: 65_536,
      flame: "0~up",
    };
    expect(decodeArtefactView(parseSearch(formatSearch(encodeArtefactView(view))))).toEqual({ view, ignored: [] });
    expect(encodeArtefactView({ ...DEFAULT_ARTEFACT_VIEW, parts: new Map([[1, DEFAULT_PART]]) })).toEqual({});
  });

  it("says what it could not read", () => {
    const { view, ignored } = decodeArtefactView({ part: ["0?order=x&party=1", "nothing"], text: "-1" });
    expect(view).toEqual(DEFAULT_ARTEFACT_VIEW);
    expect(ignored).toEqual(["part=0?order=x&party=1", "part=nothing", "text=-1"]);
  });
});
