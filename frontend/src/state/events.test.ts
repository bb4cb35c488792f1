import { describe, expect, it } from "vitest";
import { decodeEventsView, DEFAULT_EVENT_LIST, encodeEventsView, type EventsView } from "./events";

describe("the link of the Events page", () => {
  it("holds everything that the list shows", () => {
    const view: EventsView = {
      clock: "utc",
      hosts: ["web1", "db 2"],
      kinds: ["deployment", "incident"],
      tags: ["release"],
      search: "deployed 1.4",
      from: "now-7d",
      to: "2026-11-22 10:00",
      page: 2,
    };
    expect(decodeEventsView(encodeEventsView(view))).toEqual({ view, ignored: [] });
    expect(encodeEventsView({ clock: "local", ...DEFAULT_EVENT_LIST })).toEqual({});
  });

  it("says what it could not read", () => {
    const { view, ignored } = decodeEventsView({ kind: ["note", "party"], page: "0", colour: "red" });
    expect(view).toEqual({ clock: "local", ...DEFAULT_EVENT_LIST, kinds: ["note"] });
    expect(ignored).toEqual(["kind=party", "page=0", "colour=red"]);
  });
});
