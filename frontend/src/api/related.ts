/** What moves with a series. */

import { queryOptions } from "@tanstack/react-query";
import type { Window } from "../logic/time";
import { span } from "./addresses";
import { api } from "./client";

export interface RelatedQuery {
  readonly host: string;
  /** Hosts whose series are looked at, too. */
  readonly others: readonly string[];
  readonly stat: string;
  readonly field: string;
  readonly instance: string;
  readonly window: Window;
}

/** All series are read for it: a response is kept while the page is open, and not asked for again when the tab is. */
export function relatedQuery({ host, others, window, ...series }: RelatedQuery) {
  return queryOptions({
    queryKey: ["related-series", host, others, series, window],
    queryFn: ({ signal }) =>
      api.GET("/hosts/{host}/related-series", {
        signal,
        params: { path: { host }, query: { ...series, ...span(window), other_host: [...others] } },
      }),
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
}
