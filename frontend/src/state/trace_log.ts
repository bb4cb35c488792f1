/** How the log of a trace is shown, as one text for the link of its artefact. Pure. */

import { formatSearch, oneOf, parseSearch, Reader } from "./search";

export const LANES_BY = ["thread", "cpu", "command"] as const;
export type LanesBy = (typeof LANES_BY)[number];

export interface LogView {
  readonly by: LanesBy;
  readonly where: string;
  /** Nanoseconds on the log's clock, as decimal digits; null: from its first, to its last event. */
  readonly start: string | null;
  readonly end: string | null;
  /** The pair of events whose latencies are shown; empty: the most telling. */
  readonly pair: string;
  /** 0 for the first events. */
  readonly page: number;
}

export const DEFAULT_LOG_VIEW: LogView = { by: "thread", where: "", start: null, end: null, pair: "", page: 0 };

function parseDigits(text: string): string | null {
  return /^\d{1,19}$/.test(text) ? text : null;
}

function parseWhere(text: string): string | null {
  return text.length <= 600 ? text : null;
}

function parsePage(text: string): number | null {
  return /^[1-9]\d{0,5}$/.test(text) ? Number(text) - 1 : null;
}

/** Return the view as text. Missing: null for the default. */
export function encodeLogView(view: LogView): string | null {
  const text = formatSearch({
    ...(view.by === "thread" ? {} : { by: view.by }),
    ...(view.where === "" ? {} : { where: view.where }),
    ...(view.start === null ? {} : { start: view.start }),
    ...(view.end === null ? {} : { end: view.end }),
    ...(view.pair === "" ? {} : { pair: view.pair }),
    ...(view.page === 0 ? {} : { page: String(view.page + 1) }),
  });
  return text === "" ? null : text.slice(1);
}

/** Return the view of a text; what cannot be read is as by default. */
export function decodeLogView(text: string | null): LogView {
  const reader = new Reader(parseSearch(text ?? ""));
  return {
    by: reader.one("by", oneOf(LANES_BY)) ?? "thread",
    where: reader.one("where", parseWhere) ?? "",
    start: reader.one("start", parseDigits),
    end: reader.one("end", parseDigits),
    pair: reader.one("pair", parseWhere) ?? "",
    page: reader.one("page", parsePage) ?? 0,
  };
}
