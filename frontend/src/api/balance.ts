/** How evenly the CPUs of a host are used. */

import { queryOptions } from "@tanstack/react-query";
import type { Window } from "../logic/time";
import { api } from "./client";
import { span } from "./addresses";

export interface BalanceQuery {
  readonly host: string;
  readonly stat: string;
  readonly window: Window;
  readonly width: number;
}

/** While the window moves, the CPUs stay as they were drawn. */
export function balanceQuery(query: BalanceQuery) {
  const { host, stat, window, width } = query;
  return queryOptions({
    queryKey: ["cpu-balance", query],
    queryFn: ({ signal }) =>
      api.GET("/hosts/{host}/cpu-balance", { signal, params: { path: { host }, query: { ...span(window), stat, width } } }),
    placeholderData: (previous, previousQuery) => {
      const before = previousQuery?.queryKey[1] as BalanceQuery | undefined;
      return before?.host === query.host && before.stat === query.stat ? previous : undefined;
    },
    staleTime: 60_000,
    gcTime: 30_000,
  });
}
