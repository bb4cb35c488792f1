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
