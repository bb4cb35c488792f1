/** The address of a report's page: its notes, or the preview. Pure. */

import { type Decoded, oneOf, type RawSearch, Reader } from "./search";

export const REPORT_TABS = ["notes", "preview"] as const;

export interface ReportView {
  readonly show: (typeof REPORT_TABS)[number];
}

export function encodeReportView({ show }: ReportView): RawSearch {
  return show === "notes" ? {} : { show };
}

export function decodeReportView(raw: RawSearch): Decoded<ReportView> {
  const reader = new Reader(raw);
  return reader.finish({ show: reader.one("show", oneOf(REPORT_TABS)) ?? "notes" });
}
