import { describe, expect, it } from "vitest";
import { decodeLogView, DEFAULT_LOG_VIEW, encodeLogView, type LogView } from "./trace_log";

describe("the log in the link of an artefact", () => {
  it("holds all that is shown", () => {
    const view: LogView = {
      by: "cpu",
      where: "cpu=1 and not event=lock",
      start: "1795824982690155000",
      end: "1795824982690156000",
      pair: "lock->unlock",
      page: 2,
    };
    expect(decodeLogView(encodeLogView(view))).toEqual(view);
    expect(encodeLogView(DEFAULT_LOG_VIEW)).toBeNull();
  });

  it("shows the default for what cannot be read", () => {
    expect(decodeLogView("by=moon&start=x&page=0")).toEqual(DEFAULT_LOG_VIEW);
  });
});
