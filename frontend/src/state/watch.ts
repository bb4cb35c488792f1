/** The state of the Watch page in the URL. Pure. */

import { type Decoded, oneOf, type RawSearch, Reader } from "./search";
import { parseFilter } from "./url";
import { type Clock, decodeClock, encodeClock } from "./zone_choice";

export const WATCH_TABS = ["now", "history", "timeline", "use", "rules", "mutes", "alerts", "webhooks"] as const;
export type WatchTab = (typeof WATCH_TABS)[number];
/** How far back the timeline and the history look. */
export const WATCH_SPANS = ["1h", "6h", "24h", "7d", "30d"] as const;
export type WatchSpan = (typeof WATCH_SPANS)[number];

export interface WatchView {
  readonly clock: Clock;
  readonly tab: WatchTab;
  readonly host: string;
  readonly rule: string;
  readonly span: WatchSpan;
  /** 0 for the latest episodes. */
  readonly page: number;
  /** The alert that the tab of alerts shows alone; null for all. */
  readonly alert: number | null;
  /** The webhook that the tab of webhooks shows alone, with its deliveries; null for all. */
  readonly webhook: number | null;
}

export const DEFAULT_WATCH_VIEW: WatchView = {
  clock: "local",
  tab: "now",
  host: "",
  rule: "",
  span: "24h",
  page: 0,
  alert: null,
  webhook: null,
};

const MAX_PAGE = 999;

function parsePage(text: string): number | null {
  return /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_PAGE ? Number(text) - 1 : null;
}

function parseId(text: string): number | null {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}

export function encodeWatchView(view: WatchView): RawSearch {
  return {
    ...encodeClock(view.clock),
    ...(view.tab === "now" ? {} : { tab: view.tab }),
    ...(view.host === "" ? {} : { host: view.host }),
    ...(view.rule === "" ? {} : { rule: view.rule }),
    ...(view.span === "24h" ? {} : { span: view.span }),
    ...(view.page === 0 ? {} : { page: String(view.page + 1) }),
    ...(view.alert === null ? {} : { alert: String(view.alert) }),
    ...(view.webhook === null ? {} : { webhook: String(view.webhook) }),
  };
}

export function decodeWatchView(raw: RawSearch): Decoded<WatchView> {
  const reader = new Reader(raw);
  return reader.finish({
    clock: decodeClock(reader),
    tab: reader.one("tab", oneOf(WATCH_TABS)) ?? "now",
    host: reader.one("host", parseFilter) ?? "",
    rule: reader.one("rule", parseFilter) ?? "",
    span: reader.one("span", oneOf(WATCH_SPANS)) ?? "24h",
    page: reader.one("page", parsePage) ?? 0,
    alert: reader.one("alert", parseId),
    webhook: reader.one("webhook", parseId),
  });
}
