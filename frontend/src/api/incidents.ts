/** The list of incidents. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { IncidentKind } from "../logic/api";
import { api } from "./client";

const REFRESH_MS = 10_000;

export interface IncidentsQuery {
  /** Null: all kinds. */
  readonly kind: IncidentKind | null;
  /** Whether what lasts is listed, too. */
  readonly hasLasting: boolean;
  /** "" for all, as is the rule. */
  readonly host: string;
  readonly rule: string;
  readonly offset: number;
  readonly limit: number;
}

export function incidentsQuery({ kind, hasLasting, host, rule, offset, limit }: IncidentsQuery) {
  const query = {
    offset,
    limit,
    ...(hasLasting ? {} : { lasting: false }),
    ...(kind === null ? {} : { kind: [kind] }),
    ...(host === "" ? {} : { host }),
    ...(rule === "" ? {} : { rule }),
  };
  return queryOptions({
    queryKey: ["incidents", query],
    queryFn: ({ signal }) => api.GET("/incidents", { signal, params: { query } }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}
