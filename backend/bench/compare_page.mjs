/**
 * Measures how long a comparison's page takes in a browser: from the navigation to the paint of its answer, first as the server
 * makes the comparison, then as it has it. `make bench-compare-page LINK=... QUERY='host=...&incident=...'` runs it against a
 * running server; nothing is compared with a limit.
 */

import { createRequire } from "node:module";

const { chromium } = createRequire(new URL("../../frontend/package.json", import.meta.url))("@playwright/test");

const [link = "", query = "", rounds = "10"] = process.argv.slice(2);
if (link === "" || query === "") {
  throw new Error("give a login link and the query of a comparison's address");
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-background-networking"],
});
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
const page = await context.newPage();
await page.goto(link);
await page.getByRole("heading", { name: "Hosts" }).waitFor();
// The answer is on the screen one frame after it is in the document.
await page.addInitScript(() => {
  new MutationObserver((_, observer) => {
    if (document.querySelector(".lead, .verdict-sentence") !== null) {
      observer.disconnect();
      requestAnimationFrame(() => {
        setTimeout(() => {
          document.documentElement.dataset.answered = String(performance.now());
        });
      });
    }
  }).observe(document, { childList: true, subtree: true });
});
const times = [];
for (let round = 0; round <= Number(rounds); round += 1) {
  await page.goto(new URL(`/comparison?${query}`, link).href);
  const answered = await page.waitForFunction(() => document.documentElement.dataset.answered);
  times.push(Number(await answered.jsonValue()));
}
await browser.close();
const [first = 0, ...kept] = times;
const sorted = kept.toSorted((a, b) => a - b);
const at = (share) => (sorted[Math.round(share * (sorted.length - 1))] ?? 0).toFixed(0);
console.log(`answer painted after ${first.toFixed(0)} ms; kept by the server: median ${at(0.5)} ms, slowest ${at(1)} ms`);
