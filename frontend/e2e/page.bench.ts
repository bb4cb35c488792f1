/** Opens a host's page with an empty cache and moves it by keys; the figures are in backend/bench/bench_page.py. */

import { writeFileSync } from "node:fs";
import { type Browser, type BrowserContext, test } from "@playwright/test";
import { HOST, range, WHOLE } from "./story";

interface Target {
  readonly url: string;
  readonly link: string;
}

type Figures = Record<string, number>;

/** Runs in the page: notes when graphs are drawn, and how long each key takes to the next frame. */
function watch(): void {
  const noted = { drawn: [] as number[], keys: [] as number[] };
  Object.assign(window, { noted });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.name === "normstat:drawn") {
        noted.drawn.push(entry.startTime);
      }
    }
  }).observe({ type: "mark", buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.name === "keydown") {
        noted.keys.push(entry.duration);
      }
    }
    // The least that the API reports; a key without an entry was quicker.
  }).observe({ type: "event", durationThreshold: 16 } as PerformanceObserverInit);
}

interface Noted {
  readonly drawn: readonly number[];
  readonly keys: readonly number[];
}

const KEYS = ["ArrowLeft", "ArrowLeft", "ArrowRight", "+", "ArrowLeft", "-", "ArrowRight", "+", "-", "ArrowRight"];

async function measure(
  browser: Browser,
  url: string,
  state: Awaited<ReturnType<BrowserContext["storageState"]>>,
): Promise<Figures> {
  const context = await browser.newContext({ storageState: state, viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(watch);
  const session = await context.newCDPSession(page);
  const types = new Map<string, string>();
  const bytes: Record<string, number> = { script: 0, style: 0, api: 0, other: 0 };
  let n_requests = 0;
  await session.send("Network.enable");
  session.on("Network.responseReceived", ({ requestId, response }) => {
    const { pathname } = new URL(response.url);
    types.set(
      requestId,
      pathname.startsWith("/api/") ? "api" : pathname.endsWith(".js") ? "script" : pathname.endsWith(".css") ? "style" : "other",
    );
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    n_requests += 1;
    const type = types.get(requestId) ?? "other";
    bytes[type] = (bytes[type] ?? 0) + encodedDataLength;
  });
  await page.goto(`${url}/hosts/${HOST}?${range(WHOLE)}`, { waitUntil: "commit" });
  await page.waitForFunction(() => (window as unknown as { noted: Noted }).noted.drawn.length > 0, undefined, { polling: 50 });
  // All graphs in sight: no further one is drawn for a second.
  await page.waitForFunction(
    () => performance.now() - ((window as unknown as { noted: Noted }).noted.drawn.at(-1) ?? Infinity) > 1_000,
    undefined,
    { polling: 100 },
  );
  const { drawn } = await page.evaluate(() => (window as unknown as { noted: Noted }).noted);
  const loaded = { ...bytes };
  const n_loaded = n_requests;
  for (const key of KEYS) {
    await page.keyboard.press(key);
    await page.waitForTimeout(400);
  }
  const { keys } = await page.evaluate(() => (window as unknown as { noted: Noted }).noted);
  const all = [...keys, ...Array<number>(Math.max(0, KEYS.length - keys.length)).fill(16)].sort((a, b) => a - b);
  await context.close();
  const kb = (n: number | undefined): number => (n ?? 0) / 1000;
  return {
    first_graph_ms: drawn[0] ?? Number.NaN,
    all_graphs_ms: drawn.at(-1) ?? Number.NaN,
    wire_kb: kb(Object.values(loaded).reduce((sum, each) => sum + each, 0)),
    script_kb: kb(loaded.script),
    style_kb: kb(loaded.style),
    api_kb: kb(loaded.api),
    n_requests: n_loaded,
    key_to_frame_p50_ms: all[Math.floor(all.length / 2)] ?? Number.NaN,
    key_to_frame_max_ms: all.at(-1) ?? Number.NaN,
  };
}

test("a host's page, cold", async ({ browser }) => {
  const targets = JSON.parse(process.env.BENCH_TARGETS ?? "{}") as Record<string, Target>;
  const figures: Record<string, Figures[]> = {};
  const states = new Map<string, Awaited<ReturnType<BrowserContext["storageState"]>>>();
  for (const [name, { link }] of Object.entries(targets)) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(link);
    await page.getByRole("heading", { name: "Hosts" }).waitFor();
    states.set(name, await context.storageState());
    await context.close();
    figures[name] = [];
  }
  for (let round = 0; round < Number(process.env.BENCH_ROUNDS ?? "5"); round += 1) {
    for (const [name, { url }] of Object.entries(targets)) {
      const state = states.get(name);
      if (state !== undefined) {
        figures[name]?.push(await measure(browser, url, state));
      }
    }
  }
  writeFileSync(process.env.BENCH_OUT ?? "figures.json", JSON.stringify(figures));
});
