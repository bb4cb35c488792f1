/** One metric of many hosts. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { HostSeriesAnswer } from "../logic/api";
import type { Across, HostRun, Reduction } from "../logic/host_lines";
import { SECOND, toIso, type Window } from "../logic/time";
import { readNow } from "../state/clock";
import { api } from "./client";
import { span } from "./addresses";

const REFRESH_MS = 5_000;
const SETTLED_MS = 30_000;

/** Hosts by name, all of a group, and all with a tag. */
export interface HostChoice {
  readonly hosts: readonly string[];
  readonly group: string | null;
  readonly tag: string | null;
}

export interface HostLinesQuery extends HostChoice {
  /** Instead of hosts, if there are any. */
  readonly runs: readonly HostRun[];
  readonly metric: string;
  readonly instance: string | null;
  readonly across: Across;
  readonly over: Reduction | null;
  readonly top: number | null;
  readonly window: Window;
  readonly width: number;
}

function toQuery({ hosts, group, tag }: HostChoice) {
  return {
    ...(hosts.length === 0 ? {} : { host: [...hosts] }),
    ...(group === null ? {} : { group }),
    ...(tag === null ? {} : { tag }),
  };
}

async function readHostLines(asked: HostLinesQuery, signal: AbortSignal): Promise<HostSeriesAnswer> {
  const { runs, metric, instance, across, over, top, window, width } = asked;
  const answer = await api.GET("/series/hosts", {
    signal,
    params: {
      query: {
        ...span(window),
        width,
        metric,
        across,
        ...(runs.length > 0 ? { run: runs.map(({ host, start }) => `${host}@${toIso(start)}`) } : toQuery(asked)),
        ...(instance === null ? {} : { instance }),
        ...(over === null ? {} : { over }),
        ...(top === null ? {} : { top }),
      },
    },
  });
  // The client's types turn the pair [index, by] of a jump into a list of numbers.
  return answer as HostSeriesAnswer;
}

/** What these hosts have; new stats come seldom. While hosts are added, the list stays. */
export function hostMetricsQuery(choice: HostChoice) {
  return queryOptions({
    queryKey: ["host-metrics", choice],
    queryFn: ({ signal }) => api.GET("/host-metrics", { signal, params: { query: toQuery(choice) } }),
    placeholderData: keepPreviousData,
    staleTime: 60 * SECOND,
  });
}

/** The identity of a graph, independent of its window. */
function subjectOf({ window: _, width: __, ...rest }: HostLinesQuery): string {
  return JSON.stringify(rest);
}

/** While a window moves, the graph keeps its previous lines, but never those of another graph. */
export function hostLinesQuery(asked: HostLinesQuery) {
  return queryOptions({
    queryKey: ["host-lines", asked],
    queryFn: ({ signal }) => readHostLines(asked, signal),
    placeholderData: (previous, previousQuery) => {
      const before = previousQuery?.queryKey[1] as HostLinesQuery | undefined;
      return before !== undefined && subjectOf(before) === subjectOf(asked) ? previous : undefined;
    },
    staleTime: 60 * SECOND,
    refetchInterval: () => (asked.runs.length === 0 && readNow() - asked.window.end < SETTLED_MS ? REFRESH_MS : false),
    gcTime: 30 * SECOND,
  });
}
