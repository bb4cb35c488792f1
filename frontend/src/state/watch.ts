/** The state of the page of rules and alerts in the URL. Pure. */

import { type Decoded, oneOf, type RawSearch, Reader } from "./search";
import { type Clock, decodeClock, encodeClock } from "./zone_choice";

export const WATCH_TABS = ["rules", "mutes", "alerts", "webhooks", "timeline", "use"] as const;
export type WatchTab = (typeof WATCH_TABS)[number];
/** How far back the timeline looks. */
export const WATCH_SPANS = ["1h", "6h", "24h", "7d", "30d"] as const;
export type WatchSpan = (typeof WATCH_SPANS)[number];

export interface WatchView {
  readonly clock: Clock;
  readonly tab: WatchTab;
  readonly span: WatchSpan;
  /** The alert that the tab of alerts shows alone; null for all. */
  readonly alert: number | null;
  /** The webhook that the tab of webhooks shows alone, with its deliveries; null for all. */
  readonly webhook: number | null;
}

export const DEFAULT_WATCH_VIEW: WatchView = { clock: "local", tab: "rules", span: "24h", alert: null, webhook: null };

function parseId(text: string): number | null {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}

export function encodeWatchView(view: WatchView): RawSearch {
  return {
    ...encodeClock(view.clock),
    ...(view.tab === "rules" ? {} : { tab: view.tab }),
    ...(view.span === "24h" ? {} : { span: view.span }),
    ...(view.alert === null ? {} : { alert: String(view.alert) }),
    ...(view.webhook === null ? {} : { webhook: String(view.webhook) }),
  };
}

export function decodeWatchView(raw: RawSearch): Decoded<WatchView> {
  const reader = new Reader(raw);
  return reader.finish({
    clock: decodeClock(reader),
    tab: reader.one("tab", oneOf(WATCH_TABS)) ?? "rules",
    span: reader.one("span", oneOf(WATCH_SPANS)) ?? "24h",
    alert: reader.one("alert", parseId),
    webhook: reader.one("webhook", parseId),
  });
}
