/** One function for each endpoint. */

import type {
  AgentTokenCreate,
  ApiTokenCreate,
  BaselineList,
  Coverage,
  Fleet,
  Health,
  HostAccounts,
  HostDeletion,
  HostDeletionList,
  HostDetail,
  HostEvents,
  HostFacts,
  HostList,
  Job,
  JobList,
  InstanceList,
  Me,
  NewToken,
  PanelStatistics,
  PasswordChange,
  RejectedLineList,
  Reparse,
  ReparseCreate,
  ReparseList,
  Retention,
  RetentionPut,
  RetentionRun,
  SeriesAnswer,
  SpecDetail,
  SpecDraft,
  SpecDraftRequest,
  SpecInfo,
  SpecList,
  SpecPreview,
  StatList,
  StorageInfo,
  StreamContext,
  TokenList,
  UserCreate,
  UserInfo,
  UserList,
  UserUpdate,
} from "../logic/api";
import type { SeriesBlock } from "../logic/block";
import { decodeSeries } from "../logic/block";
import type { InstanceChoice } from "../logic/panel";
import { type EpochMs, toIso, type Window } from "../logic/time";
import { addressOf, answered, client } from "./client";

export type Signal = { readonly signal?: AbortSignal };

/** Return the parameters of a window. */
export function span(window: Window): { readonly start: string; readonly end: string } {
  return { start: toIso(window.start), end: toIso(window.end) };
}

// --- accounts ---

export function logIn(account: string, password: string, code: string | null): Promise<Me> {
  return answered(client.POST("/api/v1/auth/login", { body: { name: account, password, code } }));
}

export function redeemLinkToken(token: string): Promise<Me> {
  return answered(client.POST("/api/v1/auth/link", { body: { token } }));
}

export function getMe(options: Signal): Promise<Me> {
  return answered(client.GET("/api/v1/auth/me", options));
}

export function changePassword(body: PasswordChange): Promise<Me> {
  return answered(client.PUT("/api/v1/auth/password", { body }));
}

export function listUsers(options: Signal): Promise<UserList> {
  return answered(client.GET("/api/v1/users", options));
}

export function createUser(body: UserCreate): Promise<UserInfo> {
  return answered(client.POST("/api/v1/users", { body }));
}

export function updateUser(account: string, body: UserUpdate): Promise<UserInfo> {
  return answered(client.PATCH("/api/v1/users/{name}", { body, params: { path: { name: account } } }));
}

export function deleteUser(account: string): Promise<unknown> {
  return answered(client.DELETE("/api/v1/users/{name}", { params: { path: { name: account } } }));
}

export function listApiTokens(options: Signal): Promise<TokenList> {
  return answered(client.GET("/api/v1/api-tokens", options));
}

export function createApiToken(body: ApiTokenCreate): Promise<NewToken> {
  return answered(client.POST("/api/v1/api-tokens", { body }));
}

export function revokeApiToken(id: number): Promise<unknown> {
  return answered(client.DELETE("/api/v1/api-tokens/{id}", { params: { path: { id } } }));
}

export function listAgentTokens(options: Signal): Promise<TokenList> {
  return answered(client.GET("/api/v1/agent-tokens", options));
}

export function createAgentToken(body: AgentTokenCreate): Promise<NewToken> {
  return answered(client.POST("/api/v1/agent-tokens", { body }));
}

export function revokeAgentToken(id: number): Promise<unknown> {
  return answered(client.DELETE("/api/v1/agent-tokens/{id}", { params: { path: { id } } }));
}

// --- hosts, streams, stats ---

export function getHealth(options: Signal): Promise<Health> {
  return answered(client.GET("/api/v1/health", options));
}

export function listHosts(options: Signal): Promise<HostList> {
  return answered(client.GET("/api/v1/hosts", options));
}

/** Return all hosts at a moment (null: now). */
export function readFleet(at: EpochMs | null, options: Signal): Promise<Fleet> {
  return answered(client.GET("/api/v1/fleet", { ...options, params: { query: at === null ? {} : { at: toIso(at) } } }));
}

export function getHost(host: string, options: Signal): Promise<HostDetail> {
  return answered(client.GET("/api/v1/hosts/{host}", { ...options, params: { path: { host } } }));
}

/** Selects rejected lines of a host: all, those of a stream, or those with one reason. */
export interface RejectedQuery {
  readonly host: string;
  readonly streamId: number | null;
  readonly reason: string | null;
  readonly limit: number;
}

export function listRejectedLines({ host, streamId, reason, limit }: RejectedQuery, options: Signal): Promise<RejectedLineList> {
  return answered(
    client.GET("/api/v1/hosts/{host}/rejected", {
      ...options,
      params: { path: { host }, query: { stream_id: streamId, reason, limit } },
    }),
  );
}

/** What a host is, and how that changed. */
export function readFacts(host: string, options: Signal): Promise<HostFacts> {
  return answered(client.GET("/api/v1/hosts/{host}/facts", { ...options, params: { path: { host } } }));
}

/** What happened to a host in a window: reboots, changes of its facts, and what was noted. */
export function readEvents(host: string, window: Window, options: Signal): Promise<HostEvents> {
  return answered(client.GET("/api/v1/hosts/{host}/events", { ...options, params: { path: { host }, query: span(window) } }));
}

/** Selects streams of a host: one, or those that match a filter. */
export interface AccountsQuery {
  readonly host: string;
  readonly only: "rejected" | "outdated" | "lost" | null;
  readonly streamId: number | null;
  readonly limit: number;
}

export function readAccounts({ host, only, streamId, limit }: AccountsQuery, options: Signal): Promise<HostAccounts> {
  return answered(
    client.GET("/api/v1/hosts/{host}/accounts", {
      ...options,
      params: { path: { host }, query: { only, stream_id: streamId, limit } },
    }),
  );
}

/** A position in a stream's raw output, with the number of lines before and after it. */
export interface ContextQuery {
  readonly streamId: number;
  readonly offset: number;
  readonly around: number;
}

export function readContext({ streamId, offset, around }: ContextQuery, options: Signal): Promise<StreamContext> {
  return answered(
    client.GET("/api/v1/streams/{id}/context", {
      ...options,
      params: { path: { id: streamId }, query: { offset, before: around, after: around } },
    }),
  );
}

// --- reparses ---

export function createReparse(body: ReparseCreate): Promise<Reparse> {
  return answered(client.POST("/api/v1/reparses", { body }));
}

export function listReparses(options: Signal): Promise<ReparseList> {
  return answered(client.GET("/api/v1/reparses", options));
}

export function stopReparse(id: number): Promise<unknown> {
  return answered(client.DELETE("/api/v1/reparses/{id}", { params: { path: { id } } }));
}

/** The catalogue: all of it, or only what a host sends. */
export function listStats(host: string | null, options: Signal): Promise<StatList> {
  return answered(client.GET("/api/v1/stats", { ...options, params: { query: { host } } }));
}

export function listInstances(host: string, stat: string, window: Window, options: Signal): Promise<InstanceList> {
  return answered(
    client.GET("/api/v1/hosts/{host}/stats/{stat}/instances", {
      ...options,
      params: { path: { host, stat }, query: span(window) },
    }),
  );
}

export function readCoverage(host: string, window: Window, width: number, options: Signal): Promise<Coverage> {
  return answered(
    client.GET("/api/v1/hosts/{host}/coverage", { ...options, params: { path: { host }, query: { ...span(window), width } } }),
  );
}

/** The parameters of a graph's request. */
export interface SeriesQuery {
  readonly host: string;
  readonly stat: string;
  readonly fields: readonly string[];
  readonly choice: InstanceChoice;
  readonly window: Window;
  readonly width: number;
}

export async function readSeries(query: SeriesQuery, options: Signal): Promise<SeriesBlock> {
  const { choice } = query;
  const answer = await answered(
    client.GET("/api/v1/series", {
      ...options,
      params: {
        query: {
          host: query.host,
          stat: query.stat,
          ...span(query.window),
          width: query.width,
          field: [...query.fields],
          ...(choice.kind === "only" ? { instance: [...choice.names] } : {}),
          ...(choice.kind === "top" ? { instances: `top:${String(choice.n)}` } : {}),
        },
      },
    }),
  );
  // The client's types turn the pair [index, by] of a jump into a list of numbers.
  return decodeSeries(answer as SeriesAnswer);
}

export type StatisticsQuery = Omit<SeriesQuery, "width"> & {
  /** A baseline or another window to set beside; null for none. */
  readonly against:
    | { readonly kind: "baseline"; readonly id: number }
    | { readonly kind: "window"; readonly window: Window }
    | null;
};

export function readStatistics({ choice, against, ...query }: StatisticsQuery, options: Signal): Promise<PanelStatistics> {
  return answered(
    client.GET("/api/v1/statistics", {
      ...options,
      params: {
        query: {
          host: query.host,
          stat: query.stat,
          ...span(query.window),
          field: [...query.fields],
          ...(choice.kind === "only" ? { instance: [...choice.names] } : {}),
          ...(choice.kind === "top" ? { instances: `top:${String(choice.n)}` } : {}),
          ...(against?.kind === "baseline" ? { baseline: against.id } : {}),
          ...(against?.kind === "window"
            ? { baseline_start: toIso(against.window.start), baseline_end: toIso(against.window.end) }
            : {}),
        },
      },
    }),
  );
}

// --- storage ---

export function getStorage(options: Signal): Promise<StorageInfo> {
  return answered(client.GET("/api/v1/storage", options));
}

export function getRetention(options: Signal): Promise<Retention> {
  return answered(client.GET("/api/v1/retention", options));
}

export function putRetention(body: RetentionPut): Promise<Retention> {
  return answered(client.PUT("/api/v1/retention", { body }));
}

/** Apply the retention rules now. */
export function runRetention(): Promise<RetentionRun> {
  return answered(client.POST("/api/v1/retention/runs"));
}

/** Delete a host and all its data in the background. */
export function deleteHost(host: string): Promise<HostDeletion> {
  return answered(client.DELETE("/api/v1/hosts/{host}", { params: { path: { host } } }));
}

export function listHostDeletions(options: Signal): Promise<HostDeletionList> {
  return answered(client.GET("/api/v1/host-deletions", options));
}

// --- files ---

export function listJobs(options: Signal): Promise<JobList> {
  return answered(client.GET("/api/v1/jobs", options));
}

/** Stop a job that is queued or running; completed work is kept. */
export function stopJob(id: number): Promise<Job> {
  return answered(client.POST("/api/v1/jobs/{id}/stop", { params: { path: { id } } }));
}

/** Queue a failed or stopped job again. */
export function retryJob(id: number): Promise<Job> {
  return answered(client.POST("/api/v1/jobs/{id}/retry", { params: { path: { id } } }));
}

// --- specs ---

export function listSpecs(options: Signal): Promise<SpecList> {
  return answered(client.GET("/api/v1/specs", options));
}

export function getSpec(spec: string, options: Signal): Promise<SpecDetail> {
  return answered(client.GET("/api/v1/specs/{name}", { ...options, params: { path: { name: spec } } }));
}

export function saveSpec(spec: string, toml: string): Promise<SpecInfo> {
  return answered(client.PUT("/api/v1/specs/{name}", { body: { toml }, params: { path: { name: spec } } }));
}

export function deleteSpec(spec: string): Promise<unknown> {
  return answered(client.DELETE("/api/v1/specs/{name}", { params: { path: { name: spec } } }));
}

export function draftSpec(body: SpecDraftRequest): Promise<SpecDraft> {
  return answered(client.POST("/api/v1/specs/draft", { body }));
}

export function previewSpec(toml: string, sample: string, options: Signal): Promise<SpecPreview> {
  return answered(client.POST("/api/v1/specs/preview", { ...options, body: { toml, sample } }));
}

// --- baselines and comparison ---

export function listBaselines(host: string | null, options: Signal): Promise<BaselineList> {
  return answered(client.GET("/api/v1/baselines", { ...options, params: { query: { host } } }));
}

/** Return the URL of a CSV export: one stat (wide), or all stats (long). */
export function csvAddress(host: string, window: Window, stat: string | null): string {
  return addressOf("/export.csv", { host, stat: stat ?? undefined, ...span(window) });
}

/** The lines to export: those named, or all of the fields. */
interface ExportedLines {
  readonly fields: readonly string[];
  readonly lines: readonly { readonly field: string; readonly instance: string }[];
}

/** Return the URL of a CSV export of some lines of a stat. */
export function linesAddress(host: string, window: Window, stat: string, { fields, lines }: ExportedLines): string {
  const line = lines.map(({ field, instance }) => `${field}:${instance}`);
  return addressOf("/export.csv", { host, stat, ...span(window), field: fields, line });
}

/** Return the URL of a Parquet export of one stat. */
export function parquetAddress(host: string, window: Window, stat: string): string {
  return addressOf("/export.parquet", { host, stat, ...span(window) });
}

export function liveAddress(host: string | null): string {
  return addressOf("/live", { host: host ?? undefined });
}
