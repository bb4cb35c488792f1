/** How evenly the CPUs of a host are used. */

import { queryOptions } from "@tanstack/react-query";
import type { CpuBalance } from "../logic/api";
import type { Window } from "../logic/time";
import { answered, client } from "./client";
import { type Signal, span } from "./endpoints";

export interface BalanceQuery {
  readonly host: string;
  readonly stat: string;
  readonly window: Window;
  readonly width: number;
}

export function readCpuBalance({ host, stat, window, width }: BalanceQuery, options: Signal): Promise<CpuBalance> {
  return answered(
    client.GET("/api/v1/hosts/{host}/cpu-balance", {
      ...options,
      params: { path: { host }, query: { ...span(window), stat, width } },
    }),
  );
}

/** While the window moves, the CPUs stay as they were drawn. */
export function balanceQuery(query: BalanceQuery) {
  return queryOptions({
    queryKey: ["cpu-balance", query],
    queryFn: ({ signal }) => readCpuBalance(query, { signal }),
    placeholderData: (previous, previousQuery) => {
      const before = previousQuery?.queryKey[1] as BalanceQuery | undefined;
      return before?.host === query.host && before.stat === query.stat ? previous : undefined;
    },
    staleTime: 60_000,
    gcTime: 30_000,
  });
}
