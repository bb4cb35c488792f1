/** One function for each endpoint. */

import type {
  AgentTokenCreate,
  ApiTokenCreate,
  BaselineCreate,
  BaselineInfo,
  BaselineList,
  BaselineUpdate,
  Coverage,
  Health,
  HostAccounts,
  HostDeletion,
  HostDeletionList,
  HostDetail,
  HostList,
  Import,
  ImportList,
  Job,
  JobList,
  InstanceList,
  Me,
  NewToken,
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
import { toIso, type Window } from "../logic/time";
import { addressOf, request, upload } from "./client";

type Signal = { readonly signal?: AbortSignal };
type Done = Record<string, never>;

function name(text: string): string {
  return encodeURIComponent(text);
}

function span(window: Window): { readonly start: string; readonly end: string } {
  return { start: toIso(window.start), end: toIso(window.end) };
}

// --- accounts ---

export function logIn(account: string, password: string): Promise<Me> {
  return request("POST", "/auth/login", { body: { name: account, password } });
}

export function redeemLinkToken(token: string): Promise<Me> {
  return request("POST", "/auth/link", { body: { token } });
}

export function logOut(): Promise<Done> {
  return request("POST", "/auth/logout");
}

export function getMe(options: Signal): Promise<Me> {
  return request("GET", "/auth/me", options);
}

export function changePassword(body: PasswordChange): Promise<Me> {
  return request("PUT", "/auth/password", { body });
}

export function listUsers(options: Signal): Promise<UserList> {
  return request("GET", "/users", options);
}

export function createUser(body: UserCreate): Promise<UserInfo> {
  return request("POST", "/users", { body });
}

export function updateUser(account: string, body: UserUpdate): Promise<UserInfo> {
  return request("PATCH", `/users/${name(account)}`, { body });
}

export function deleteUser(account: string): Promise<Done> {
  return request("DELETE", `/users/${name(account)}`);
}

export function listApiTokens(options: Signal): Promise<TokenList> {
  return request("GET", "/api-tokens", options);
}

export function createApiToken(body: ApiTokenCreate): Promise<NewToken> {
  return request("POST", "/api-tokens", { body });
}

export function revokeApiToken(id: number): Promise<Done> {
  return request("DELETE", `/api-tokens/${String(id)}`);
}

export function listAgentTokens(options: Signal): Promise<TokenList> {
  return request("GET", "/agent-tokens", options);
}

export function createAgentToken(body: AgentTokenCreate): Promise<NewToken> {
  return request("POST", "/agent-tokens", { body });
}

export function revokeAgentToken(id: number): Promise<Done> {
  return request("DELETE", `/agent-tokens/${String(id)}`);
}

// --- what there is ---

export function getHealth(options: Signal): Promise<Health> {
  return request("GET", "/health", options);
}

export function listHosts(options: Signal): Promise<HostList> {
  return request("GET", "/hosts", options);
}

export function getHost(host: string, options: Signal): Promise<HostDetail> {
  return request("GET", `/hosts/${name(host)}`, options);
}

/** Which rejected lines of a host: all, those of a stream, or those of one reason. */
export interface RejectedQuery {
  readonly host: string;
  readonly streamId: number | null;
  readonly reason: string | null;
  readonly limit: number;
}

export function listRejectedLines({ host, streamId, reason, limit }: RejectedQuery, options: Signal): Promise<RejectedLineList> {
  return request("GET", `/hosts/${name(host)}/rejected`, {
    ...options,
    params: { stream_id: streamId ?? undefined, reason: reason ?? undefined, limit },
  });
}

/** Which streams of a host: one, or those that a filter lets through. */
export interface AccountsQuery {
  readonly host: string;
  readonly only: "rejected" | "outdated" | "lost" | null;
  readonly streamId: number | null;
  readonly limit: number;
}

export function readAccounts({ host, only, streamId, limit }: AccountsQuery, options: Signal): Promise<HostAccounts> {
  return request("GET", `/hosts/${name(host)}/accounts`, {
    ...options,
    params: { only: only ?? undefined, stream_id: streamId ?? undefined, limit },
  });
}

/** A place of a stream's raw output, with so many lines before and after it. */
export interface ContextQuery {
  readonly streamId: number;
  readonly offset: number;
  readonly around: number;
}

export function readContext({ streamId, offset, around }: ContextQuery, options: Signal): Promise<StreamContext> {
  return request("GET", `/streams/${String(streamId)}/context`, {
    ...options,
    params: { offset, before: around, after: around },
  });
}

// --- reading again ---

export function createReparse(body: ReparseCreate): Promise<Reparse> {
  return request("POST", "/reparses", { body });
}

export function listReparses(options: Signal): Promise<ReparseList> {
  return request("GET", "/reparses", options);
}

export function stopReparse(id: number): Promise<Done> {
  return request("DELETE", `/reparses/${String(id)}`);
}

export function listStats(options: Signal): Promise<StatList> {
  return request("GET", "/stats", options);
}

export function listInstances(host: string, stat: string, window: Window, options: Signal): Promise<InstanceList> {
  return request("GET", `/hosts/${name(host)}/stats/${name(stat)}/instances`, { ...options, params: span(window) });
}

export function readCoverage(host: string, window: Window, width: number, options: Signal): Promise<Coverage> {
  return request("GET", `/hosts/${name(host)}/coverage`, { ...options, params: { ...span(window), width } });
}

/** What a graph asks for. */
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
  const answer = await request<SeriesAnswer>("GET", "/series", {
    ...options,
    params: {
      host: query.host,
      stat: query.stat,
      ...span(query.window),
      width: query.width,
      field: query.fields,
      ...(choice.kind === "only" ? { instance: choice.names } : {}),
      ...(choice.kind === "top" ? { instances: `top:${String(choice.n)}` } : {}),
    },
  });
  return decodeSeries(answer);
}

// --- the disk ---

export function getStorage(options: Signal): Promise<StorageInfo> {
  return request("GET", "/storage", options);
}

export function getRetention(options: Signal): Promise<Retention> {
  return request("GET", "/retention", options);
}

export function putRetention(body: RetentionPut): Promise<Retention> {
  return request("PUT", "/retention", { body });
}

/** Has the rules applied now rather than at night. */
export function runRetention(): Promise<RetentionRun> {
  return request("POST", "/retention/runs");
}

/** Everything of the host goes, in the background. */
export function deleteHost(host: string): Promise<HostDeletion> {
  return request("DELETE", `/hosts/${name(host)}`);
}

export function listHostDeletions(options: Signal): Promise<HostDeletionList> {
  return request("GET", "/host-deletions", options);
}

// --- files ---

/** Of which host files are, and what they do not say of their times. */
export interface ImportSettings {
  readonly host: string;
  readonly zone?: string;
  readonly date?: string;
  readonly start?: string;
  readonly intervalS?: number;
  readonly spec?: string;
}

export function createImport(
  settings: ImportSettings,
  chosen: { readonly name: string; readonly file: Blob },
  onProgress: (n_sent: number) => void,
  signal: AbortSignal,
): Promise<Import> {
  const { host, zone, date, start, intervalS, spec } = settings;
  const params = { host, name: chosen.name, zone, date, start, interval_s: intervalS, spec };
  return upload("/imports", params, chosen.file, onProgress, signal);
}

export function listImports(options: Signal): Promise<ImportList> {
  return request("GET", "/imports", options);
}

/** One import with all its files; a list has only the first of each. */
export function getImport(id: number, options: Signal): Promise<Import> {
  return request("GET", `/imports/${String(id)}`, options);
}

export function listJobs(options: Signal): Promise<JobList> {
  return request("GET", "/jobs", options);
}

/** Stops a job that is queued or runs; what it did so far stays. */
export function stopJob(id: number): Promise<Job> {
  return request("POST", `/jobs/${String(id)}/stop`);
}

/** Queues a failed or stopped job again. */
export function retryJob(id: number): Promise<Job> {
  return request("POST", `/jobs/${String(id)}/retry`);
}

/** Stops an import that runs, or forgets one that is over; the samples stay. */
export function deleteImport(id: number): Promise<Done> {
  return request("DELETE", `/imports/${String(id)}`);
}

// --- specs ---

export function listSpecs(options: Signal): Promise<SpecList> {
  return request("GET", "/specs", options);
}

export function getSpec(spec: string, options: Signal): Promise<SpecDetail> {
  return request("GET", `/specs/${name(spec)}`, options);
}

export function saveSpec(spec: string, toml: string): Promise<SpecInfo> {
  return request("PUT", `/specs/${name(spec)}`, { body: { toml } });
}

export function deleteSpec(spec: string): Promise<Done> {
  return request("DELETE", `/specs/${name(spec)}`);
}

export function draftSpec(body: SpecDraftRequest): Promise<SpecDraft> {
  return request("POST", "/specs/draft", { body });
}

export function previewSpec(toml: string, sample: string, options: Signal): Promise<SpecPreview> {
  return request("POST", "/specs/preview", { ...options, body: { toml, sample } });
}

// --- baselines and comparison ---

export function listBaselines(host: string | null, options: Signal): Promise<BaselineList> {
  return request("GET", "/baselines", { ...options, params: { host: host ?? undefined } });
}

export function createBaseline(body: BaselineCreate): Promise<BaselineInfo> {
  return request("POST", "/baselines", { body });
}

export function updateBaseline(id: number, body: BaselineUpdate): Promise<BaselineInfo> {
  return request("PATCH", `/baselines/${String(id)}`, { body });
}

export function deleteBaseline(id: number): Promise<Done> {
  return request("DELETE", `/baselines/${String(id)}`);
}

/** The address of a CSV file: of one stat (wide), or of all (long). */
export function csvAddress(host: string, window: Window, stat: string | null): string {
  return addressOf("/export.csv", { host, stat: stat ?? undefined, ...span(window) });
}

/** The address of a Parquet file with the samples of one stat. */
export function parquetAddress(host: string, window: Window, stat: string): string {
  return addressOf("/export.parquet", { host, stat, ...span(window) });
}

export function liveAddress(host: string | null): string {
  return addressOf("/live", { host: host ?? undefined });
}
