import { describe, expect, it } from "vitest";
import { parseSearch } from "./search";
import { decodeWatchView, DEFAULT_WATCH_VIEW, encodeWatchView, type WatchView } from "./watch";

describe("the link of the page of rules and alerts", () => {
  it("holds everything that the page shows", () => {
    const view: WatchView = { clock: "utc", tab: "timeline", span: "7d", alert: 12, webhook: 4 };
    expect(decodeWatchView(encodeWatchView(view))).toEqual({ view, ignored: [] });
    expect(encodeWatchView(DEFAULT_WATCH_VIEW)).toEqual({});
  });

  it("opens the alert of a message, whose link the server writes", () => {
    const { view, ignored } = decodeWatchView(parseSearch("?tab=alerts&alert=12"));
    expect([view.tab, view.alert, ignored]).toEqual(["alerts", 12, []]);
  });

  it("opens the deliveries of a webhook", () => {
    const { view, ignored } = decodeWatchView(parseSearch("?tab=webhooks&webhook=4"));
    expect([view.tab, view.webhook, ignored]).toEqual(["webhooks", 4, []]);
  });

  it("says what it could not read", () => {
    const { view, ignored } = decodeWatchView(parseSearch("?tab=alerts&alert=0&webhook=x"));
    expect([view.alert, view.webhook]).toEqual([null, null]);
    expect(ignored.toSorted()).toEqual(["alert=0", "webhook=x"]);
  });
});
