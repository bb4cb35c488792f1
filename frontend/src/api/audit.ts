/** Queries of the audit log. */

import { infiniteQueryOptions } from "@tanstack/react-query";
import type { AuditPage } from "../logic/api";
import { addressOf, api } from "./client";

const PAGE = 100;

/** Which entries are shown. */
export interface AuditFilter {
  readonly search: string;
  readonly onlyRefused: boolean;
}

function paramsOf({ search, onlyRefused }: AuditFilter) {
  return { ...(search.trim() === "" ? {} : { search }), ...(onlyRefused ? { refused: true } : {}) };
}

/** The audit log, newest first, a page at a time. */
export function auditQuery(filter: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: ["audit", filter],
    queryFn: ({ signal, pageParam }) =>
      api.GET("/audit", {
        signal,
        params: { query: { ...paramsOf(filter), limit: PAGE, ...(pageParam === null ? {} : { before: pageParam }) } },
      }),
    initialPageParam: null as number | null,
    getNextPageParam: (last: AuditPage) => last.next_before,
  });
}

/** Return the URL of the log as CSV or JSON lines. */
export function auditAddress(filter: AuditFilter, form: "csv" | "jsonl"): string {
  const { refused, ...others } = paramsOf(filter);
  return addressOf(`/audit/export.${form}`, { ...others, refused: refused === undefined ? null : String(refused) });
}
