/** The only HTTP client. Every unsuccessful response becomes an ApiError with its code and request id. */

import createClient, { type FetchResponse, type MaybeOptionalInit } from "openapi-fetch";
import type { HttpMethod, PathsWithMethod, RequiredKeysOf } from "openapi-typescript-helpers";
import type { ErrorBody } from "../logic/api";
import { fetchBatched, linesOf, orAlone, splitAnswers } from "./batch";
import type { paths } from "./types.gen";

const BASE = "/api/v1";

/** The routes without their common prefix: `/hosts/{host}`. */
export type Routes = { [Path in keyof paths as Path extends `${typeof BASE}${infer Rest}` ? Rest : never]: paths[Path] };

const JSON_TYPE = "application/json";

/** `fetch` is looked up for each request, so that tests can replace it. */
const ask = (request: Request): Promise<Response> => fetch(request);

/** Unsafe methods carry a header that other sites' pages cannot send. */
const client = createClient<Routes>({
  // Outside a browser there is no origin, and a request needs a whole address.
  baseUrl: `${typeof origin === "undefined" ? "http://localhost" : origin}${BASE}`,
  headers: { Accept: JSON_TYPE },
  fetch: (request) =>
    request.method === "GET" && request.headers.get("Accept") === JSON_TYPE
      ? (takeEarly(request) ?? fetchBatched(BASE, request, ask))
      : ask(request),
});
client.use({
  onRequest: ({ request }) => {
    if (request.method !== "GET") {
      request.headers.set("X-Normstat-Request", "1");
      // What was asked before a login or a change is not so any more.
      early = new Map();
    }
    // A deletion that waited for an undo is sent when the page is left: it must not end with it.
    return request.method === "DELETE" ? new Request(request, { keepalive: true }) : undefined;
  },
});

declare global {
  var normstatAsked: { readonly addresses: readonly string[]; readonly answer: Promise<Response> } | undefined;
}

/** Answers to what public/first.js asked are the state of the page's start: later ones are asked for again. */
const EARLY_MS = 10_000;

/** By address, without the base. */
let early: Map<string, Promise<Response>> | null = null;

function readEarly(): Map<string, Promise<Response>> {
  const asked = globalThis.normstatAsked;
  if (asked === undefined) {
    return new Map();
  }
  const answers = splitAnswers(asked.answer, asked.addresses.length);
  return new Map(answers.map((answer, index) => [asked.addresses[index] ?? "", answer]));
}

/** Return the answer to a request that was made before the scripts arrived, once. Missing: null if it was not made. */
function takeEarly(request: Request): Promise<Response> | null {
  early ??= readEarly();
  const { pathname, search } = new URL(request.url);
  const address = `${pathname}${search}`.slice(BASE.length);
  const answer = performance.now() > EARLY_MS ? undefined : early.get(address);
  early.delete(address);
  return answer === undefined ? null : orAlone(answer, request, ask);
}

type Asked<Method extends HttpMethod> = <
  Path extends PathsWithMethod<Routes, Method>,
  Init extends MaybeOptionalInit<Routes[Path], Method>,
>(
  path: Path,
  ...init: RequiredKeysOf<Init> extends never ? [Init?] : [Init]
) => Promise<NonNullable<FetchResponse<NonNullable<Routes[Path][Method]>, Init, "application/json">["data"]>>;

interface Outcome {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response: Response;
}

function asking<Method extends "GET" | "POST" | "PUT" | "PATCH" | "DELETE">(method: Method): Asked<Lowercase<Method>> {
  const ask = client[method] as (path: string, init?: object) => Promise<Outcome>;
  const answered = async (path: string, init?: object): Promise<unknown> => {
    const { data, error, response } = await ask(path, init).catch((reason: unknown) => {
      throw reason instanceof TypeError ? unreachable() : reason;
    });
    if (!response.ok) {
      throw toApiError(response.status, response.headers.get("X-Request-Id") ?? "", error);
    }
    return data;
  };
  return answered as Asked<Lowercase<Method>>;
}

/**
 * The API: each method takes a route with its parameters and body, and returns the body of the answer. All are checked against
 * the generated OpenAPI types. Raises: ApiError, also where the server cannot be reached.
 */
export const api = {
  GET: asking("GET"),
  POST: asking("POST"),
  PUT: asking("PUT"),
  PATCH: asking("PATCH"),
  DELETE: asking("DELETE"),
};

export type Params = Readonly<Record<string, string | number | readonly string[] | null | undefined>>;

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string,
    readonly details: ErrorBody["error"]["details"] = {},
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** Return whether what was asked for is not there: a link may be of another host, or older than a deletion. */
export function isNotFound(error: Error | null): error is ApiError {
  return error instanceof ApiError && error.status === 404;
}

/** Return a URL such as `/hosts/web1?start=...`: lists become repeated parameters; null and undefined are omitted. */
export function addressOf(path: string, params: Params = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const each of Array.isArray(value) ? (value as readonly string[]) : [value]) {
      if (each !== undefined && each !== null) {
        search.append(name, String(each));
      }
    }
  }
  const text = search.toString();
  return `${BASE}${path}${text === "" ? "" : `?${text}`}`;
}

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof body === "object" && body !== null && "error" in body && typeof body.error === "object" && body.error !== null;
}

function toApiError(status: number, requestId: string, body: unknown): ApiError {
  if (isErrorBody(body)) {
    const { code, message, details, request_id } = body.error;
    return new ApiError(status, code, message, request_id, details);
  }
  // From a proxy, or from a server that crashed before it could say more.
  return new ApiError(status, `http_${String(status)}`, `The server responded with ${String(status)}`, requestId);
}

function unreachable(): ApiError {
  return new ApiError(0, "unreachable", "Cannot reach the server. Check that it is running and that the network is up.", "");
}

/** Read JSON lines and pass on each as it arrives. Raises: ApiError if the connection breaks. */
export async function readLines(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  signal: AbortSignal,
  onLine: (line: unknown) => void,
): Promise<void> {
  try {
    for await (const line of linesOf(body)) {
      onLine(parseJson(line));
    }
  } catch (error) {
    throw signal.aborted || !(error instanceof TypeError) ? error : unreachable();
  }
}

/** Upload a file and report its progress, which `fetch` cannot do. */
export function upload<T>(
  path: string,
  params: Params,
  file: Blob,
  onProgress: (n_sent: number) => void,
  signal: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    sending.open("POST", addressOf(path, params));
    sending.setRequestHeader("Accept", "application/json");
    sending.setRequestHeader("Content-Type", "application/octet-stream");
    sending.setRequestHeader("X-Normstat-Request", "1");
    sending.responseType = "text";
    sending.upload.addEventListener("progress", (event) => {
      onProgress(event.loaded);
    });
    sending.addEventListener("load", () => {
      const body = parseJson(sending.responseText);
      if (sending.status >= 200 && sending.status < 300) {
        resolve(body as T);
      } else {
        reject(toApiError(sending.status, sending.getResponseHeader("X-Request-Id") ?? "", body));
      }
    });
    sending.addEventListener("error", () => {
      reject(
        new ApiError(
          0,
          "unreachable",
          "Upload failed: the server cannot be reached, or the file was changed or deleted after it was chosen",
          "",
        ),
      );
    });
    sending.addEventListener("abort", () => {
      reject(new ApiError(0, "aborted", "stopped", ""));
    });
    signal.addEventListener("abort", () => {
      sending.abort();
    });
    sending.send(file);
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
