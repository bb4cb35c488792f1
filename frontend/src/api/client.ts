/** The one place that talks HTTP. Every answer that is no success becomes an ApiError with its code and request id. */

import type { ErrorBody } from "../logic/api";

export const BASE = "/api/v1";

export type Params = Readonly<Record<string, string | number | readonly string[] | undefined>>;

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

/** `/hosts/web1?start=...`: lists become repeated parameters, undefined is left out. */
export function addressOf(path: string, params: Params = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const each of typeof value === "object" ? value : [value]) {
      if (each !== undefined) {
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

async function toApiError(response: Response): Promise<ApiError> {
  const requestId = response.headers.get("X-Request-Id") ?? "";
  const body: unknown = await response.json().catch(() => null);
  if (isErrorBody(body)) {
    const { code, message, details, request_id } = body.error;
    return new ApiError(response.status, code, message, request_id, details);
  }
  // A proxy in between, or a server that fell over before it could say more.
  return new ApiError(
    response.status,
    `http_${String(response.status)}`,
    `The server answered ${String(response.status)}`,
    requestId,
  );
}

/** Sends a request and gives the body of its answer. Unsafe methods carry the header that other sites' pages cannot send. */
export async function request<T>(
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  options: { readonly params?: Params; readonly body?: unknown; readonly signal?: AbortSignal } = {},
): Promise<T> {
  const headers = new Headers({ Accept: "application/json" });
  if (method !== "GET") {
    headers.set("X-Normstat-Request", "1");
  }
  if (options.body !== undefined) {
    headers.set("Content-Type", "application/json");
  }
  let response: Response;
  try {
    response = await fetch(addressOf(path, options.params), {
      method,
      headers,
      credentials: "same-origin",
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  } catch (error) {
    if (options.signal?.aborted === true) {
      throw error;
    }
    throw new ApiError(0, "unreachable", "The server cannot be reached; is it running, and is the network up?", "");
  }
  if (!response.ok) {
    throw await toApiError(response);
  }
  return (await response.json()) as T;
}
