import { describe, expect, it } from "vitest";
import { decodeIncidentsView, DEFAULT_INCIDENTS_VIEW, encodeIncidentsView, type IncidentsView } from "./incidents";

describe("the link of the page of incidents", () => {
  it("holds kind, host, rule and page", () => {
    const view: IncidentsView = { ...DEFAULT_INCIDENTS_VIEW, clock: "utc", show: "alert", host: "db 2", rule: "mutex", page: 3 };
    expect(decodeIncidentsView(encodeIncidentsView(view))).toEqual({ view, ignored: [] });
    expect(encodeIncidentsView(DEFAULT_INCIDENTS_VIEW)).toEqual({});
  });

  it("holds the filters of the events", () => {
    const view: IncidentsView = {
      ...DEFAULT_INCIDENTS_VIEW,
      show: "event",
      events: {
        hosts: ["web1", "db 2"],
        kinds: ["deployment", "incident"],
        tags: ["release"],
        search: "deployed 1.4",
        from: "now-7d",
        to: "2026-11-22 10:00",
        page: 2,
      },
    };
    expect(decodeIncidentsView(encodeIncidentsView(view))).toEqual({ view, ignored: [] });
  });

  it("says what it could not read", () => {
    const { view, ignored } = decodeIncidentsView({ show: "event", kind: ["note", "party"], page: "0", colour: "red" });
    expect(view.events.kinds).toEqual(["note"]);
    expect(ignored).toEqual(["kind=party", "page=0", "colour=red"]);
    expect(decodeIncidentsView({ show: "parties" }).ignored).toEqual(["show=parties"]);
  });
});
