/** Endpoints and queries of watching: what is on, episodes, rules, backtests, mutes. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type {
  Backtest,
  BacktestCreate,
  BacktestList,
  EpisodeInfo,
  EpisodePage,
  OpenNow,
  RuleDetail,
  RuleLimitSet,
  RuleList,
  RuleReading,
  WatchMute,
  WatchMuteCreate,
  WatchMuteList,
  WatchNow,
  WatchTimeline,
} from "../logic/api";
import { isActive } from "../logic/job";
import { type EpochMs, toIso, type Window } from "../logic/time";
import { answered, client } from "./client";
import { span } from "./endpoints";

// As often as the server judges what arrived.
const REFRESH_MS = 10_000;
const PROGRESS_MS = 1_000;

export const watchQuery = queryOptions({
  queryKey: ["watch", "now"],
  queryFn: ({ signal }): Promise<WatchNow> => answered(client.GET("/api/v1/watch", { signal })),
  refetchInterval: REFRESH_MS,
});

/** How much is on, in short, now or at a moment; all parts of the page share one request. */
export function openNowQuery(at: EpochMs | null) {
  const query = at === null ? {} : { at: toIso(at) };
  return queryOptions({
    queryKey: ["watch", "open", at],
    queryFn: ({ signal }): Promise<OpenNow> => answered(client.GET("/api/v1/watch/open", { signal, params: { query } })),
    placeholderData: keepPreviousData,
    refetchInterval: at === null ? REFRESH_MS : false,
    staleTime: REFRESH_MS / 2,
  });
}

/** Selects episodes of the history. */
export interface EpisodeQuery {
  readonly host: string;
  readonly source: string;
  readonly start: EpochMs | null;
  readonly offset: number;
  readonly limit: number;
}

export function episodesQuery({ host, source, start, offset, limit }: EpisodeQuery) {
  const query = {
    offset,
    limit,
    ...(host === "" ? {} : { host }),
    ...(source === "" ? {} : { source }),
    ...(start === null ? {} : { start: toIso(start) }),
  };
  return queryOptions({
    queryKey: ["watch", "episodes", query],
    queryFn: ({ signal }): Promise<EpisodePage> => answered(client.GET("/api/v1/episodes", { signal, params: { query } })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

const MAX_OF_HOST = 500;

/** The episodes of a host that overlap a window, the latest first. */
export function hostEpisodesQuery(host: string, window: Window) {
  const query = { host, start: toIso(window.start), end: toIso(window.end), limit: MAX_OF_HOST };
  return queryOptions({
    queryKey: ["watch", "host", query],
    queryFn: ({ signal }): Promise<EpisodePage> => answered(client.GET("/api/v1/episodes", { signal, params: { query } })),
    placeholderData: keepPreviousData,
  });
}

export function timelineQuery(window: Window, source: string | null) {
  const query = { ...span(window), ...(source === null ? {} : { source }) };
  return queryOptions({
    queryKey: ["watch", "timeline", query],
    queryFn: ({ signal }): Promise<WatchTimeline> =>
      answered(client.GET("/api/v1/watch/timeline", { signal, params: { query } })),
    placeholderData: keepPreviousData,
  });
}

export const rulesQuery = queryOptions({
  queryKey: ["watch", "rules"],
  queryFn: ({ signal }): Promise<RuleList> => answered(client.GET("/api/v1/rules", { signal })),
  refetchInterval: REFRESH_MS,
});

export function ruleQuery(rule: string) {
  return queryOptions({
    queryKey: ["watch", "rule", rule],
    queryFn: ({ signal }): Promise<RuleDetail> =>
      answered(client.GET("/api/v1/rules/{rule}", { signal, params: { path: { rule } } })),
  });
}

export function backtestsQuery(rule: string) {
  return queryOptions({
    queryKey: ["watch", "backtests", rule],
    queryFn: ({ signal }): Promise<BacktestList> =>
      answered(client.GET("/api/v1/backtests", { signal, params: { query: { rule } } })),
    refetchInterval: ({ state }) => (state.data?.backtests.some(isActive) === true ? PROGRESS_MS : false),
  });
}

export function backtestQuery(id: number) {
  return queryOptions({
    queryKey: ["watch", "backtest", id],
    queryFn: ({ signal }): Promise<Backtest> =>
      answered(client.GET("/api/v1/backtests/{id}", { signal, params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data === undefined || isActive(state.data) ? PROGRESS_MS : false),
  });
}

export const watchMutesQuery = queryOptions({
  queryKey: ["watch", "mutes"],
  queryFn: ({ signal }): Promise<WatchMuteList> => answered(client.GET("/api/v1/watch/mutes", { signal })),
  refetchInterval: REFRESH_MS,
});

export function acknowledgeEpisode(id: number, note: string): Promise<EpisodeInfo> {
  return answered(client.POST("/api/v1/episodes/{id}/acknowledge", { body: { note }, params: { path: { id } } }));
}

export function takeBackAcknowledgement(id: number): Promise<EpisodeInfo> {
  return answered(client.DELETE("/api/v1/episodes/{id}/acknowledge", { params: { path: { id } } }));
}

export function markIncident(id: number): Promise<EpisodeInfo> {
  return answered(client.POST("/api/v1/episodes/{id}/incident", { body: { note: "" }, params: { path: { id } } }));
}

export function createWatchMute(body: WatchMuteCreate): Promise<WatchMute> {
  return answered(client.POST("/api/v1/watch/mutes", { body }));
}

export function endWatchMute(id: number): Promise<unknown> {
  return answered(client.DELETE("/api/v1/watch/mutes/{id}", { params: { path: { id } } }));
}

export function checkRule(toml: string): Promise<RuleReading> {
  return answered(client.POST("/api/v1/rules/check", { body: { toml } }));
}

export function saveRule(rule: string, toml: string): Promise<RuleDetail> {
  return answered(client.PUT("/api/v1/rules/{rule}", { body: { toml }, params: { path: { rule } } }));
}

export function deleteRule(rule: string): Promise<unknown> {
  return answered(client.DELETE("/api/v1/rules/{rule}", { params: { path: { rule } } }));
}

export function enableRule(rule: string, isEnabled: boolean): Promise<RuleDetail> {
  return answered(client.PUT("/api/v1/rules/{rule}/enabled", { body: { is_enabled: isEnabled }, params: { path: { rule } } }));
}

export function setRuleLimit(rule: string, body: RuleLimitSet): Promise<unknown> {
  return answered(client.POST("/api/v1/rules/{rule}/limits", { body, params: { path: { rule } } }));
}

export function removeRuleLimit(id: number): Promise<unknown> {
  return answered(client.DELETE("/api/v1/rule-limits/{id}", { params: { path: { id } } }));
}

export function createBacktest(body: BacktestCreate): Promise<Backtest> {
  return answered(client.POST("/api/v1/backtests", { body }));
}
