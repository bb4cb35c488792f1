/** Acts as an agent, for tests that need their own stream. */

import type { APIRequestContext } from "@playwright/test";
import { expect } from "./fixture";

/** The header that the server requires for changes by a browser. */
export const OURS = { "X-Normstat-Request": "1" };

export interface Capture {
  readonly host: string;
  readonly spec: string;
  readonly key: string;
  readonly command: string;
  readonly text: string;
}

/** Send a whole stream; sending it again changes nothing. */
export async function sendStream(request: APIRequestContext, { host, spec, key, command, text }: Capture): Promise<void> {
  const made = await request.post("/api/v1/agent-tokens", { headers: OURS, data: { name: "browser tests" } });
  expect(made.status()).toBe(201);
  const { token } = (await made.json()) as { token: string };
  const data = Buffer.from(text);
  const answer = await request.post("/api/v1/ingest", {
    headers: { Authorization: `Bearer ${token}`, "Normstat-Host": host, "Content-Type": "application/x-normstat-frames" },
    data: Buffer.concat([Buffer.from(`stream ${spec} ${key} 0 ${String(data.length)} ${command}\n`), data]),
  });
  expect(answer.status(), await answer.text()).toBe(200);
}

/** The head of `vmstat -t`. */
export const VMSTAT_HEAD = [
  "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----",
  " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC",
];

/** Send the first seconds, at most 60, of 22 November 2026 from a host that records nothing but vmstat. */
export async function sendVmstat(request: APIRequestContext, host: string, nSeconds: number): Promise<void> {
  const rows = Array.from({ length: nSeconds }, (_, at) => {
    const second = String(at).padStart(2, "0");
    return ` 2  0      0 402312 267968 846360    0    0  1444  4554  647 ${String(1200 + at)} 34  8 57  1  1 2026-11-22 00:00:${second}`;
  });
  await sendStream(request, {
    host,
    spec: "vmstat_linux",
    key: `vmstat.${host}.1`,
    command: "vmstat -n -t 1",
    text: `${[...VMSTAT_HEAD, ...rows].join("\n")}\n`,
  });
}
