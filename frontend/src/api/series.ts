/** Queries of the lines of graphs, and of their statistics. */

import { type QueryClient, queryOptions } from "@tanstack/react-query";
import type { SeriesAnswer } from "../logic/api";
import { decodeSeries, type SeriesBlock } from "../logic/block";
import { grow, tailOf } from "../logic/grow";
import type { InstanceChoice } from "../logic/panel";
import { type EpochMs, toIso, type Window } from "../logic/time";
import { readNow } from "../state/clock";
import { span } from "./addresses";
import { api } from "./client";

const REFRESH_MS = 5_000;
const SETTLED_MS = 30_000;

/** The parameters of a graph's request. */
export interface SeriesQuery {
  readonly host: string;
  readonly stat: string;
  readonly fields: readonly string[];
  readonly choice: InstanceChoice;
  readonly window: Window;
  readonly width: number;
}

/** Return the lines that a graph asks for, as the API takes them. */
function linesOf({ host, stat, fields, choice, window }: Omit<SeriesQuery, "width">) {
  return {
    host,
    stat,
    ...span(window),
    field: [...fields],
    ...(choice.kind === "only" ? { instance: [...choice.names] } : {}),
    ...(choice.kind === "top" ? { instances: `top:${String(choice.n)}` } : {}),
  };
}

/** The identity of a graph, independent of its window. */
function subjectOf({ host, stat, fields, choice }: Omit<SeriesQuery, "width">): string {
  return JSON.stringify([host, stat, fields, choice]);
}

async function readSeries(query: SeriesQuery, signal: AbortSignal): Promise<SeriesBlock> {
  const answer = await api.GET("/series", { signal, params: { query: { ...linesOf(query), width: query.width } } });
  // The client's types turn the pair [index, by] of a jump into a list of numbers.
  return decodeSeries(answer as SeriesAnswer);
}

/** When a block, or the one that it was grown from, was read whole. */
const wholeSince = new WeakMap<SeriesBlock, EpochMs>();
/** After this long a live window is read whole again, with what arrived late. */
const WHOLE_MS = 60_000;

/** Return the lines of a graph: of a live window that moved on, only its new part is read. */
async function readGrowing(client: QueryClient, query: SeriesQuery, signal: AbortSignal): Promise<SeriesBlock> {
  const before = findBefore(client, query);
  const since = before === null ? undefined : wholeSince.get(before);
  const tail = before === null || since === undefined ? null : tailOf(before, query.window, query.width);
  if (before !== null && since !== undefined && tail !== null && readNow() - since < WHOLE_MS) {
    const grown = grow(before, await readSeries({ ...query, ...tail }, signal), query.window, query.width);
    if (grown !== null) {
      wholeSince.set(grown, since);
      return grown;
    }
  }
  const block = await readSeries(query, signal);
  wholeSince.set(block, readNow());
  return block;
}

/** Return the newest block of the same graph. Missing: null without one, and for the top N: in another window they are others. */
function findBefore(client: QueryClient, query: SeriesQuery): SeriesBlock | null {
  if (query.choice.kind === "top") {
    return null;
  }
  const subject = subjectOf(query);
  let newest: { readonly end: EpochMs; readonly block: SeriesBlock } | null = null;
  for (const { queryKey, state } of client.getQueryCache().findAll({ queryKey: ["series"] })) {
    const other = queryKey[1] as SeriesQuery;
    const isNewer = newest === null || other.window.end > newest.end;
    if (
      state.data !== undefined &&
      !state.isInvalidated &&
      isNewer &&
      other.width === query.width &&
      subjectOf(other) === subject
    ) {
      newest = { end: other.window.end, block: state.data as SeriesBlock };
    }
  }
  return newest?.block ?? null;
}

/** While a window moves, a graph keeps its previous data, but never that of another graph. */
export function seriesQuery(query: SeriesQuery) {
  return queryOptions({
    queryKey: ["series", query],
    queryFn: ({ signal, client }) => readGrowing(client, query, signal),
    placeholderData: (previous, previousQuery) => {
      const before = previousQuery?.queryKey[1] as SeriesQuery | undefined;
      return before !== undefined && subjectOf(before) === subjectOf(query) ? previous : undefined;
    },
    staleTime: 60_000,
    // The last samples of a window that just ended may still be in transit.
    refetchInterval: () => (readNow() - query.window.end < SETTLED_MS ? REFRESH_MS : false),
    gcTime: 30_000,
  });
}

export type StatisticsQuery = Omit<SeriesQuery, "width"> & {
  /** A baseline or another window to set beside; null for none. */
  readonly against:
    | { readonly kind: "baseline"; readonly id: number }
    | { readonly kind: "window"; readonly window: Window }
    | null;
};

/** Statistics of the same lines of another window stay until the new ones are there. */
export function statisticsQuery(query: StatisticsQuery) {
  const { against } = query;
  return queryOptions({
    queryKey: ["statistics", query],
    queryFn: ({ signal }) =>
      api.GET("/statistics", {
        signal,
        params: {
          query: {
            ...linesOf(query),
            ...(against?.kind === "baseline" ? { baseline: against.id } : {}),
            ...(against?.kind === "window"
              ? { baseline_start: toIso(against.window.start), baseline_end: toIso(against.window.end) }
              : {}),
          },
        },
      }),
    placeholderData: (previous, previousQuery) => {
      const before = previousQuery?.queryKey[1] as StatisticsQuery | undefined;
      return before !== undefined && subjectOf(before) === subjectOf(query) && against === null ? previous : undefined;
    },
    staleTime: 60_000,
    refetchInterval: () => (readNow() - query.window.end < SETTLED_MS ? REFRESH_MS : false),
    gcTime: 60_000,
  });
}
