/** Queries of comparisons, saved comparisons, mutes and bands. */

import { keepPreviousData, type QueryClient, queryOptions, skipToken } from "@tanstack/react-query";
import type { ComparisonInputs } from "../logic/against";
import type { ErrorBody, Comparison, SavedComparisonCreate, SavedComparisonInfo } from "../logic/api";
import { toIso, type Window } from "../logic/time";
import { addressOf, api, ApiError, readLines } from "./client";
import type { paths } from "./types.gen";

type ComparisonParams = paths["/api/v1/comparison"]["get"]["parameters"]["query"];
type SeriesParams = NonNullable<paths["/api/v1/comparison/series"]["get"]["parameters"]["query"]>;

/** Which series of a comparison are wanted. */
export type SeriesRequest = Pick<SeriesParams, "search" | "verdict" | "sort" | "order" | "offset" | "limit">;

/** Maximum number of groups in a result; all are counted. */
const GROUP_LIMIT = 200;

/** The progress of a comparison. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly what: string;
}

function againstParams({ against }: ComparisonInputs): Partial<ComparisonParams> {
  switch (against.kind) {
    case "baseline":
      return { baseline: against.id, ...(against.version === null ? {} : { version: against.version }) };
    case "window":
      return { baseline_start: toIso(against.window.start), baseline_end: toIso(against.window.end) };
    case "ago":
      return { ago: against.ago };
    case "host":
      return { other_host: against.host };
    case "group":
      return { group: against.group };
  }
}

/** The inputs in the form of the API. */
export function comparisonParams(inputs: ComparisonInputs): ComparisonParams {
  return {
    host: [...inputs.hosts],
    start: toIso(inputs.incident.start),
    end: toIso(inputs.incident.end),
    ...againstParams(inputs),
    ...(inputs.divisor === null ? {} : { divisor: inputs.divisor }),
  };
}

function isProgress(line: unknown): line is { readonly progress: Progress } {
  return typeof line === "object" && line !== null && "progress" in line;
}

function isResult(line: unknown): line is { readonly result: Comparison } {
  return typeof line === "object" && line !== null && "result" in line;
}

/** Status of an error at the end of a stream, whose own status was 200 already. */
const REFUSALS: Readonly<Record<string, number>> = { bad_request: 400, not_found: 404, no_data: 404, conflict: 409 };

function toRefusal(line: unknown): ApiError | null {
  if (typeof line !== "object" || line === null || !("error" in line)) {
    return null;
  }
  const { code, message, request_id } = line.error as Pick<ErrorBody["error"], "code" | "message" | "request_id">;
  const status = REFUSALS[code];
  return status === undefined ? null : new ApiError(status, code, message, request_id);
}

/** A request that the server rejected; after any other error the plain route is tried. */
function isRefused(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500;
}

/** Compare with progress, or without it if the stream fails. */
async function compare(
  inputs: ComparisonInputs,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Comparison> {
  const params = { ...comparisonParams(inputs), limit: GROUP_LIMIT };
  const found: Comparison[] = [];
  try {
    const headers = { Accept: "application/x-ndjson" };
    const lines = await api.GET("/comparison/stream", { params: { query: params }, headers, signal, parseAs: "stream" });
    await readLines(lines, signal, (line) => {
      if (isProgress(line)) {
        onProgress(line.progress);
      } else if (isResult(line)) {
        found.push(line.result);
      } else {
        const refusal = toRefusal(line);
        if (refusal !== null) {
          throw refusal;
        }
      }
    });
  } catch (error) {
    if (signal.aborted || isRefused(error)) {
      throw error;
    }
  }
  return found[0] ?? api.GET("/comparison", { params: { query: params }, signal });
}

function progressKey(inputs: ComparisonInputs) {
  return ["comparison-progress", inputs] as const;
}

function tellProgress(client: QueryClient, inputs: ComparisonInputs, progress: Progress | null): void {
  client.setQueryData(progressKey(inputs), progress);
}

export function comparisonQuery(inputs: ComparisonInputs) {
  return queryOptions({
    queryKey: ["comparison", inputs],
    queryFn: ({ signal, client }) =>
      compare(
        inputs,
        (progress) => {
          tellProgress(client, inputs, progress);
        },
        signal,
      ),
    staleTime: 300_000,
  });
}

/** The progress of the comparison with these inputs; only the comparison writes it. */
export function progressQuery(inputs: ComparisonInputs) {
  return queryOptions<Progress | null>({ queryKey: progressKey(inputs), queryFn: skipToken, gcTime: 10_000 });
}

/** Series of a comparison, ranked or not; the server keeps the comparison. */
export function seriesQuery(inputs: ComparisonInputs | null, request: SeriesRequest) {
  return queryOptions({
    queryKey: ["comparison", inputs, "series", request],
    queryFn:
      inputs === null
        ? skipToken
        : ({ signal }) =>
            api.GET("/comparison/series", { signal, params: { query: { ...comparisonParams(inputs), ...request } } }),
    staleTime: 300_000,
    placeholderData: keepPreviousData,
  });
}

/** The address of the report, or of its numbers. */
export function reportAddress(kind: "html" | "csv" | "pdf", of: ComparisonInputs | number): string {
  return addressOf(`/comparison/report.${kind}`, typeof of === "number" ? { comparison: of } : comparisonParams(of));
}

// --- saved comparisons ---

export const savedComparisonsQuery = queryOptions({
  queryKey: ["saved"],
  queryFn: ({ signal }) => api.GET("/comparisons", { signal }),
});

export function savedComparisonQuery(id: number) {
  return queryOptions({
    queryKey: ["saved", id],
    queryFn: ({ signal }) => api.GET("/comparisons/{id}", { params: { path: { id } }, signal }),
    staleTime: 300_000,
  });
}

export function saveComparison({
  inputs,
  ...rest
}: Omit<SavedComparisonCreate, "inputs"> & { readonly inputs: ComparisonParams }): Promise<SavedComparisonInfo> {
  // The generated types also require members with a default.
  const body = { ...rest, inputs: inputs as SavedComparisonCreate["inputs"] };
  return api.POST("/comparisons", { body });
}

// --- muted series ---

export const mutesQuery = queryOptions({ queryKey: ["mutes"], queryFn: ({ signal }) => api.GET("/mutes", { signal }) });

/** Queries to refetch after a change of mutes. */
export const MUTE_KEYS = [["mutes"], ["comparison"]] as const;

// --- the bands behind a graph ---

export interface BandQuery {
  readonly baseline: number;
  readonly host: string;
  readonly stat: string;
  readonly series: readonly { readonly field: string; readonly instance: string }[];
  readonly window: Window;
}

/** The bands of the lines of a graph, in their order. */
export function bandsQuery({ baseline, host, stat, series, window }: BandQuery) {
  const query = {
    baseline,
    host,
    stat,
    field: series.map(({ field }) => field),
    instance: series.map(({ instance }) => instance),
    start: toIso(window.start),
    end: toIso(window.end),
  };
  return queryOptions({
    queryKey: ["bands", query],
    queryFn: ({ signal }) => api.GET("/bands", { signal, params: { query } }),
    staleTime: 300_000,
    gcTime: 60_000,
  });
}
