import { afterEach, describe, expect, it, vi } from "vitest";
import { api, ApiError } from "./client";

interface Sent {
  readonly address: string;
  readonly reads: readonly string[];
  readonly signal: AbortSignal;
}

/** Stands in for the server: answers batches with these lines, and anything else with an empty list of hosts. */
function serve(answer: (sent: Sent) => Response | Promise<Response>): readonly Sent[] {
  const log: Sent[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    const { pathname, search } = new URL(request.url);
    const text = await request.text();
    const reads = text === "" ? [] : (JSON.parse(text) as { readonly get: readonly string[] }).get;
    const sent = { address: pathname + search, reads, signal: request.signal };
    log.push(sent);
    return pathname === "/api/v1/batch" ? answer(sent) : new Response(`{"alone":"${pathname}"}`);
  });
  return log;
}

/** Return the line of an answer. */
function line(index: number, body: unknown, status = 200): string {
  return `${JSON.stringify({ index, status, body })}\n`;
}

const host = (name: string, signal?: AbortSignal): Promise<unknown> =>
  api.GET("/hosts/{host}", { params: { path: { host: name } }, ...(signal === undefined ? {} : { signal }) });

afterEach(() => {
  vi.unstubAllGlobals();
});

describe("reads of the same moment", () => {
  it("are one request, and each gets its own answer", async () => {
    const log = serve(() => new Response(line(1, { n: 2 }) + line(0, { n: 1 })));
    expect(await Promise.all([host("a/b"), api.GET("/stats", { params: { query: { host: "web 1" } } })])).toEqual([
      { n: 1 },
      { n: 2 },
    ]);
    expect(log.map(({ address, reads }) => [address, reads])).toEqual([
      ["/api/v1/batch", ["/hosts/a%2Fb", "/stats?host=web%201"]],
    ]);
  });

  it("are asked alone where there is but one", async () => {
    const log = serve(() => new Response(""));
    expect(await host("web1")).toEqual({ alone: "/api/v1/hosts/web1" });
    expect(log.map(({ address }) => address)).toEqual(["/api/v1/hosts/web1"]);
  });

  it("are answered when their line is there, not when all are", async () => {
    let more: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        more = controller;
      },
    });
    serve(() => new Response(body));
    const both = [host("a"), host("b")] as const;
    const encoder = new TextEncoder();
    await vi.waitFor(() => {
      expect(more).toBeDefined();
    });
    // A line may be cut anywhere.
    more?.enqueue(encoder.encode(line(1, { n: "b" }) + line(0, {}).slice(0, 12)));
    expect(await both[1]).toEqual({ n: "b" });
    more?.enqueue(encoder.encode(line(0, {}).slice(12)));
    more?.close();
    expect(await both[0]).toEqual({});
  });

  it("fail one by one", async () => {
    const error = { code: "not_found", message: "no host 'b'", details: {}, request_id: "r1" };
    serve(() => new Response(line(0, { n: 1 }) + line(1, { error }, 404)));
    const [a, b] = await Promise.allSettled([host("a"), host("b")]);
    expect(a).toMatchObject({ status: "fulfilled", value: { n: 1 } });
    expect(b).toMatchObject({ reason: { status: 404, code: "not_found", requestId: "r1" } });
  });

  it("fail together where the batch is refused or breaks off", async () => {
    const error = { code: "not_authenticated", message: "log in", details: {}, request_id: "r2" };
    serve(() => new Response(JSON.stringify({ error }), { status: 401 }));
    for (const each of await Promise.allSettled([host("a"), host("b")])) {
      expect(each).toMatchObject({ reason: { status: 401, code: "not_authenticated" } });
    }
    serve(() => new Response(line(0, { n: 1 })));
    const [a, b] = await Promise.allSettled([host("a"), host("b")]);
    expect(a).toMatchObject({ status: "fulfilled" });
    expect(b).toMatchObject({ reason: { code: "unreachable" } });
    expect((b as PromiseRejectedResult).reason).toBeInstanceOf(ApiError);
  });

  it("are asked alone of a server that knows no batches", async () => {
    const log = serve(() => new Response("{}", { status: 404 }));
    expect(await Promise.all([host("a"), host("b")])).toEqual([{ alone: "/api/v1/hosts/a" }, { alone: "/api/v1/hosts/b" }]);
    expect(log).toHaveLength(3);
  });

  it("are left one by one, and the request ends with the last", async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const log = serve(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            reject(new DOMException("left", "AbortError"));
          });
        }),
    );
    const both = Promise.allSettled([host("a", first.signal), host("b", second.signal)]);
    await vi.waitFor(() => {
      expect(log).toHaveLength(1);
    });
    first.abort();
    expect(log[0]?.signal.aborted).toBe(false);
    second.abort();
    for (const each of await both) {
      expect(each).toMatchObject({ reason: { name: "AbortError" } });
    }
    expect(log[0]?.signal.aborted).toBe(true);
  });
});
