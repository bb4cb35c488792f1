/** A stand-in for the server: it answers what a test has given it, and a request without an answer fails the test. */

import { expect, vi } from "vitest";
import type { ErrorBody, Me } from "../logic/api";
import type { Routes as Operations } from "../api/client";

type Method = "get" | "post" | "put" | "patch" | "delete";
type Json<Responses, Status extends number> =
  Responses extends Record<Status, { content: { "application/json": infer Body } }> ? Body : never;
type BodyOf<Operation> = Operation extends { responses: infer Responses }
  ? Json<Responses, 200> | Json<Responses, 201> | Json<Responses, 202>
  : never;
/** Routes such as `GET /hosts/{host}`, with the bodies of their answers as the server's OpenAPI document has them. */
type Routes = { [Path in keyof Operations as `${Uppercase<Method & keyof Operations[Path]>} ${Path}`]: unknown };
type BodyOfRoute<Route> = Route extends `${infer Verb} ${infer Path}`
  ? Path extends keyof Operations
    ? Lowercase<Verb> extends keyof Operations[Path]
      ? BodyOf<Operations[Path][Lowercase<Verb>]>
      : never
    : never
  : never;

export type Route = keyof Routes;

/** A request as a test sees it. */
export interface Asked {
  readonly path: string;
  readonly search: URLSearchParams;
  /** The parsed JSON; undefined without a body. */
  readonly body: unknown;
}

type Answer = (asked: Asked) => Response | Promise<Response>;

function json(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
}

const BASE = "/api/v1";
const BATCH = `${BASE}/batch`;

/** Who is logged in, unless a test says otherwise. */
export const ADMIN: Me = {
  name: "admin",
  role: "administrator",
  is_limited: false,
  is_from_provider: false,
  has_password: true,
  has_second_factor: false,
  must_set_second_factor: false,
  is_read_only: false,
};

export class FakeServer {
  private readonly answers: {
    readonly verb: string;
    readonly pattern: RegExp;
    readonly route: Route;
    readonly answer: Answer;
  }[] = [];
  private readonly log: { readonly route: Route; readonly asked: Asked }[] = [];
  private readonly unexpected: string[] = [];

  constructor() {
    vi.stubGlobal("fetch", (request: Request) => this.respond(request));
    // What every page asks.
    this.on("GET /auth/me", ADMIN);
    this.on("GET /health", { status: "ok", version: "0", storage: "postgresql", behind: null });
    this.on("GET /watch/open", { n_waiting: 0, worst: null, hosts: [], behind: null });
  }

  /** Answer a route from now on; the last answer counts. */
  on<R extends Route>(route: R, answer: BodyOfRoute<R> | ((asked: Asked) => BodyOfRoute<R>)): void {
    this.add(route, (asked) => json(typeof answer === "function" ? (answer as (asked: Asked) => unknown)(asked) : answer));
  }

  /** Answer a route with an error of the server. */
  fail(route: Route, status: number, code: string, message: string, details: ErrorBody["error"]["details"] = {}): void {
    const body: ErrorBody = { error: { code, message, details, request_id: "r-123" } };
    this.add(route, () => json(body, status));
  }

  /** Answer a route with anything else than JSON. */
  send(route: Route, text: string, type: string): void {
    this.add(route, () => new Response(text, { headers: { "Content-Type": type } }));
  }

  /** Return what was asked of a route so far. */
  asked(route: Route): readonly Asked[] {
    return this.log.flatMap((entry) => (entry.route === route ? [entry.asked] : []));
  }

  /** Expect that every request had an answer. */
  expectNoSurprise(): void {
    expect(this.unexpected, "requests without an answer").toEqual([]);
  }

  private add(route: Route, answer: Answer): void {
    const [verb = "", path = ""] = route.split(" ");
    const pattern = new RegExp(`^${BASE}${path.replace(/\{\w+\}/g, "[^/]+")}$`);
    this.answers.unshift({ verb, pattern, route, answer });
  }

  /** Answer each read of a batch as it is answered alone. */
  private async respondToBatch(request: Request): Promise<Response> {
    const { get } = (await request.json()) as { readonly get: readonly string[] };
    const lines = get.map(async (address, index) => {
      const answer = await this.respond(new Request(new URL(`${BASE}${address}`, request.url), { signal: request.signal }));
      return `{"index":${String(index)},"status":${String(answer.status)},"body":${await answer.text()}}\n`;
    });
    return new Response((await Promise.all(lines)).join(""), { headers: { "Content-Type": "application/x-ndjson" } });
  }

  private async respond(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === BATCH) {
      return this.respondToBatch(request);
    }
    const found = this.answers.find(({ verb, pattern }) => verb === request.method && pattern.test(pathname));
    if (found === undefined) {
      this.unexpected.push(`${request.method} ${pathname}`);
      return json({ error: { code: "no_answer", message: `no answer to ${pathname}`, details: {}, request_id: "" } }, 404);
    }
    const text = await request.text();
    const asked = { path: pathname, search: searchParams, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
    this.log.push({ route: found.route, asked });
    return found.answer(asked);
  }
}
