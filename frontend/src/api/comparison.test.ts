import { QueryClient } from "@tanstack/react-query";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ComparisonInputs } from "../logic/against";
import { madeComparison } from "../logic/comparison_fixture";
import { parseIso } from "../logic/time";
import { ApiError, readLines } from "./client";
import { comparisonParams, comparisonQuery, progressQuery, reportAddress } from "./comparison";

const INPUTS: ComparisonInputs = {
  hosts: ["web1", "web2"],
  incident: { start: parseIso("2026-11-21T09:00:00Z")!, end: parseIso("2026-11-21T09:10:00Z")! },
  against: { kind: "baseline", id: 3, version: null },
  divisor: null,
};

/** Return an answer in pieces that end anywhere, as on a network. */
function pieces(text: string, size: number): Response {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new Response(
    new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= bytes.length) {
          controller.close();
        } else {
          controller.enqueue(bytes.slice(at, at + size));
          at += size;
        }
      },
    }),
  );
}

/** A server's answer for each address; `asked` lists the requests. */
function serve(answers: Readonly<Record<string, () => Response>>): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (request: string | Request) => {
    const address = typeof request === "string" ? request : request.url;
    const path = address.replace(/^.*\/api\/v1/, "").replace(/\?.*/, "");
    asked.push(path);
    return Promise.resolve((answers[path] ?? (() => new Response("nothing here", { status: 404 })))());
  });
  return asked;
}

function client(): QueryClient {
  return new QueryClient({ defaultOptions: { queries: { retry: false } } });
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe("a line-by-line answer", () => {
  it("is split into lines, wherever the network cuts it", async () => {
    const text = '{"name": "ü"}\n\n{"a": 1}\n{"last": true}';
    for (const size of [1, 2, 7, 1000]) {
      const lines: unknown[] = [];
      await readLines(pieces(text, size).body, new AbortController().signal, (line) => lines.push(line));
      expect(lines).toEqual([{ name: "ü" }, { a: 1 }, { last: true }]);
    }
  });
});

describe("a comparison", () => {
  it("reports its progress and then its result", async () => {
    const progress = { done: 3, total: 12, what: "mpstat_linux of web1" };
    const lines = [{ progress }, { result: madeComparison(2) }].map((line) => `${JSON.stringify(line)}\n`).join("");
    const asked = serve({ "/comparison/stream": () => pieces(lines, 1000) });
    const queries = client();
    expect((await queries.query(comparisonQuery(INPUTS))).n_groups).toBe(2);
    expect(queries.getQueryData(progressQuery(INPUTS).queryKey)).toEqual(progress);
    expect(asked).toEqual(["/comparison/stream"]);
  });

  it("is requested without progress if the progress stream fails or breaks off", async () => {
    const plain = () => new Response(JSON.stringify(madeComparison(1)));
    const broken = `${JSON.stringify({ error: { code: "internal", message: "fell over", request_id: "r" } })}\n`;
    for (const stream of [() => new Response("away", { status: 502 }), () => pieces(broken, 50), () => pieces("", 1)]) {
      const asked = serve({ "/comparison/stream": stream, "/comparison": plain });
      expect((await client().query(comparisonQuery(INPUTS))).n_groups).toBe(1);
      expect(asked).toEqual(["/comparison/stream", "/comparison"]);
    }
  });

  it("that is refused is not requested again", async () => {
    const refusal = { error: { code: "no_data", message: "no samples", details: {}, request_id: "r" } };
    const line = `${JSON.stringify({ progress: { done: 1, total: 2, what: "web1" } })}\n${JSON.stringify(refusal)}\n`;
    for (const stream of [() => new Response(JSON.stringify(refusal), { status: 404 }), () => pieces(line, 30)]) {
      const asked = serve({ "/comparison/stream": stream });
      const error: unknown = await client()
        .query(comparisonQuery(INPUTS))
        .catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ status: 404, code: "no_data", message: "no samples", requestId: "r" });
      expect(asked).toEqual(["/comparison/stream"]);
    }
  });

  it("is requested with all of its inputs, and so is its report", () => {
    const common = { host: ["web1", "web2"], start: "2026-11-21T09:00:00Z", end: "2026-11-21T09:10:00Z" };
    expect(comparisonParams(INPUTS)).toEqual({ ...common, baseline: 3 });
    expect(comparisonParams({ ...INPUTS, against: { kind: "baseline", id: 3, version: 2 } })).toMatchObject({ version: 2 });
    expect(comparisonParams({ ...INPUTS, against: { kind: "ago", ago: "week" }, divisor: "a.b" })).toMatchObject({
      ago: "week",
      divisor: "a.b",
    });
    expect(comparisonParams({ ...INPUTS, against: { kind: "host", host: "db" } })).toMatchObject({ other_host: "db" });
    expect(comparisonParams({ ...INPUTS, against: { kind: "group", group: "web" } })).toMatchObject({ group: "web" });
    expect(comparisonParams({ ...INPUTS, against: { kind: "window", window: INPUTS.incident } })).toMatchObject({
      baseline_start: "2026-11-21T09:00:00Z",
      baseline_end: "2026-11-21T09:10:00Z",
    });
    expect(reportAddress("html", 7)).toBe("/api/v1/comparison/report.html?comparison=7");
    expect(reportAddress("csv", INPUTS)).toContain("/comparison/report.csv?host=web1&host=web2&start=");
  });
});
