/**
 * Opens a host's page with an empty cache, moves it by keys, selects an incident and opens it; the figures are in
 * backend/bench/bench_page.py.
 */

import { writeFileSync } from "node:fs";
import { type Browser, type BrowserContext, type Page, test } from "@playwright/test";
import { dragOver, drawnPanel, shareOf } from "./fixture";
import { HOST, INCIDENT, range, WHOLE } from "./story";

interface Target {
  readonly url: string;
  readonly link: string;
}

type Figures = Record<string, number>;

/** Runs in the page: notes the first heading, graphs drawn, long tasks, and how long each key and click takes. */
function watch(): void {
  const noted = {
    drawn: [] as number[],
    keys: [] as number[],
    tasks: [] as number[],
    heading: 0,
    asked: 0,
    sentence: 0,
    answer: 0,
  };
  Object.assign(window, { noted });
  const look = (): void => {
    const now = performance.now();
    noted.heading ||= document.querySelector("h1") === null ? 0 : now;
    if (noted.asked > 0) {
      noted.sentence ||= document.querySelector(".mark-differences li, .mark-differences > p:not(.soft)") === null ? 0 : now;
      noted.answer ||= document.querySelector("main .lead") === null ? 0 : now;
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  addEventListener("click", () => (noted.asked = performance.now()), { capture: true });
  addEventListener("pointerup", () => (noted.asked = performance.now()), { capture: true });
  new PerformanceObserver((list) => {
    noted.tasks.push(...list.getEntries().map(({ duration }) => duration));
  }).observe({ type: "longtask", buffered: true });
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
  readonly tasks: readonly number[];
  readonly heading: number;
  readonly asked: number;
  readonly sentence: number;
  readonly answer: number;
}

const readNoted = (page: Page): Promise<Noted> => page.evaluate(() => (window as unknown as { noted: Noted }).noted);

/** Select the incident on a graph, and open it: how long until its sentence, and until the whole answer is there. */
async function openIncident(page: Page, earlier: readonly number[]): Promise<Figures> {
  const { surface } = await drawnPanel(page, "mpstat_linux.cpu");
  await dragOver(page, surface, shareOf(INCIDENT.start, WHOLE), shareOf(INCIDENT.end, WHOLE), true);
  await page.waitForFunction(() => (window as unknown as { noted: Noted }).noted.sentence > 0, undefined, { polling: 50 });
  const selected = await readNoted(page);
  // The answer of the second way there is in the page's cache.
  await page.getByRole("region", { name: "Selection" }).getByRole("link", { name: /^Open/ }).click();
  await page.waitForFunction(() => (window as unknown as { noted: Noted }).noted.answer > 0, undefined, { polling: 50 });
  const opened = await readNoted(page);
  const tasks = [...earlier, ...opened.tasks];
  return {
    selection_to_sentence_ms: selected.sentence - selected.asked,
    incident_from_cache_ms: opened.answer - opened.asked,
    long_task_max_ms: Math.max(0, ...tasks),
    n_long_tasks: tasks.filter((duration) => duration > 200).length,
  };
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
  // Pictures of heatmaps: no request to the server.
  const inline = new Set<string>();
  const bytes: Record<string, number> = { script: 0, style: 0, api: 0, other: 0 };
  let n_requests = 0;
  await session.send("Network.enable");
  session.on("Network.responseReceived", ({ requestId, response }) => {
    const { pathname, protocol } = new URL(response.url);
    if (protocol === "data:") {
      inline.add(requestId);
    }
    types.set(
      requestId,
      pathname.startsWith("/api/") ? "api" : pathname.endsWith(".js") ? "script" : pathname.endsWith(".css") ? "style" : "other",
    );
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    n_requests += inline.has(requestId) ? 0 : 1;
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
  const { drawn, heading } = await readNoted(page);
  const loaded = { ...bytes };
  const n_loaded = n_requests;
  for (const key of KEYS) {
    await page.keyboard.press(key);
    await page.waitForTimeout(400);
  }
  const { keys, tasks } = await readNoted(page);
  const all = [...keys, ...Array<number>(Math.max(0, KEYS.length - keys.length)).fill(16)].sort((a, b) => a - b);
  await page.goto(`${url}/hosts/${HOST}?${range(WHOLE)}`);
  const incident = await openIncident(page, tasks);
  await context.close();
  const kb = (n: number | undefined): number => (n ?? 0) / 1000;
  return {
    heading_ms: heading,
    first_graph_ms: drawn[0] ?? Number.NaN,
    all_graphs_ms: drawn.at(-1) ?? Number.NaN,
    wire_kb: kb(Object.values(loaded).reduce((sum, each) => sum + each, 0)),
    script_kb: kb(loaded.script),
    style_kb: kb(loaded.style),
    api_kb: kb(loaded.api),
    n_requests: n_loaded,
    key_to_frame_p50_ms: all[Math.floor(all.length / 2)] ?? Number.NaN,
    key_to_frame_max_ms: all.at(-1) ?? Number.NaN,
    ...incident,
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
