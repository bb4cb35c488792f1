import { afterEach, describe, expect, it, vi } from "vitest";
import { addressOf, api, ApiError } from "./client";
import { isWorthRetrying } from "./queries";

function answer(status: number, body: string, headers: Record<string, string> = {}): ReturnType<typeof vi.fn> {
  const fetched = vi.fn(() => Promise.resolve(new Response(body, { status, headers })));
  vi.stubGlobal("fetch", fetched);
  return fetched;
}

async function failure(promise: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe("requests", () => {
  it("repeat list parameters and omit missing ones", () => {
    expect(addressOf("/x", { field: ["a", "b"], host: undefined, start: "2026-11-21T09:00:00Z" })).toBe(
      "/api/v1/x?field=a&field=b&start=2026-11-21T09%3A00%3A00Z",
    );
  });

  it("carry the anti-forgery header exactly when they change something", async () => {
    const fetched = answer(200, "{}");
    await api.GET("/hosts");
    await api.POST("/baselines", { body: { name: "x", note: "", time_zone: "UTC" } });
    const headers = fetched.mock.calls.map((call) => (call[0] as Request).headers);
    expect(headers.map((each) => each.get("X-Normstat-Request"))).toEqual([null, "1"]);
    expect(headers[1]?.get("Content-Type")).toBe("application/json");
  });

  it("fail with the code and request id of the envelope", async () => {
    answer(
      404,
      JSON.stringify({ error: { code: "not_found", message: "no host 'x'", details: { host: "x" }, request_id: "r1" } }),
    );
    expect(await failure(api.GET("/hosts/{host}", { params: { path: { host: "x" } } }))).toMatchObject({
      status: 404,
      code: "not_found",
      message: "no host 'x'",
      requestId: "r1",
      details: { host: "x" },
    });
  });

  it("fail with the status if a proxy answered", async () => {
    answer(502, "<html>Bad gateway</html>", { "X-Request-Id": "r2" });
    expect(await failure(api.GET("/hosts"))).toMatchObject({ status: 502, code: "http_502", requestId: "r2" });
  });

  it("have no body if there is nothing to send", async () => {
    vi.stubGlobal("fetch", () => Promise.resolve(new Response(null, { status: 204 })));
    const done = api.DELETE("/imports/{id}", { params: { path: { id: 1 } } });
    await expect(done).resolves.not.toThrow();
  });

  it("encode path parts and parameter lists so that the server can decode them", async () => {
    const fetched = answer(200, "{}");
    const params = { path: { host: "a/b c" }, query: { limit: 5, reason: null } };
    await api.GET("/hosts/{host}/rejected", { params });
    const query = { host: "h", stat: "s", start: "1", end: "2", width: 9, field: ["a", "b"] };
    await api.GET("/series", { params: { query } });
    const addresses = fetched.mock.calls.map((call) => new URL((call[0] as Request).url));
    expect(addresses.map((each) => each.pathname + each.search)).toEqual([
      "/api/v1/hosts/a%2Fb%20c/rejected?limit=5",
      "/api/v1/series?host=h&stat=s&start=1&end=2&width=9&field=a&field=b",
    ]);
  });

  it("say that the server cannot be reached", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
    expect(await failure(api.GET("/hosts"))).toMatchObject({ status: 0, code: "unreachable" });
  });

  it("are retried only if that may help", () => {
    expect(isWorthRetrying(0, new ApiError(503, "database_away", "", ""))).toBe(true);
    expect(isWorthRetrying(0, new ApiError(404, "not_found", "", ""))).toBe(false);
    expect(isWorthRetrying(2, new ApiError(503, "database_away", "", ""))).toBe(false);
  });
});
