/** Queries of past incidents. */

import { queryOptions } from "@tanstack/react-query";
import type { ComparisonInputs } from "../logic/against";
import { api } from "./client";
import { comparisonParams } from "./comparison";

/** Queries to refetch after a cause was named, or a pattern switched. */
export const PAST_KEYS = [["past"]] as const;

/** What a comparison looks like: a new one by its inputs, a saved one by its number. */
export function recallQuery(of: ComparisonInputs | number) {
  return queryOptions({
    queryKey: ["past", "of", of],
    queryFn: ({ signal }) =>
      typeof of === "number"
        ? api.GET("/comparisons/{id}/past", { params: { path: { id: of } }, signal })
        : api.GET("/comparison/past", { params: { query: comparisonParams(of) }, signal }),
    staleTime: 60_000,
  });
}

/** The incidents of which a person named the cause; "" for all hosts. */
export function patternsQuery(host: string, offset: number, limit: number) {
  const query = { offset, limit, ...(host === "" ? {} : { host }) };
  return queryOptions({
    queryKey: ["past", "patterns", query],
    queryFn: ({ signal }) => api.GET("/past-incidents", { params: { query }, signal }),
  });
}
