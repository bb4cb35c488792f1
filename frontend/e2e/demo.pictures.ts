/** The pictures of docs/, each of a page of the demo. LOGIN_LINK is the demo's, PICTURES the folder. */

import { expect, type Page, test } from "@playwright/test";

const LINK = process.env.LOGIN_LINK ?? "";
const FOLDER = process.env.PICTURES ?? "../test-results";
const ORIGIN = LINK.replace(/\/login#.*/, "");

interface Listed {
  readonly id: number;
  readonly name?: string;
  readonly title?: string;
  readonly text?: string;
  readonly at?: string;
}

async function list(page: Page, path: string, key: string): Promise<readonly Listed[]> {
  const answer = await page.request.get(`${ORIGIN}/api/v1/${path}`);
  expect(answer.ok(), path).toBe(true);
  const body = (await answer.json()) as Record<string, readonly Listed[]>;
  return body[key] ?? [];
}

function only(found: Listed | undefined, what: string): Listed {
  if (found === undefined) {
    throw new Error(`the demo has no ${what}`);
  }
  return found;
}

/** The upper part of the page. */
async function take(page: Page, name: string, height = 900): Promise<void> {
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: `${FOLDER}/${name}.png`, clip: { x: 0, y: 0, width: 1280, height } });
}

test("the pictures of the documentation", async ({ page }) => {
  await page.goto(LINK);
  await expect(page.getByText("Read-only:")).toBeVisible();

  // Which host is unlike its normal: the page after the login.
  await expect(page.getByRole("link", { name: "shop-db1" })).toBeVisible();
  await expect(page.getByText("very unusual")).toBeVisible();
  // The server names the process some seconds later.
  await expect(page.getByText(/postgres \(17 processes\) read/)).toBeVisible({ timeout: 180_000 });
  await take(page, "hosts", 360);

  // What changed on it.
  const events = await list(page, "events?host=shop-db1", "events");
  const release = only(
    events.find(({ text }) => text?.startsWith("Release 4.8.1") === true),
    "release",
  );
  const baselines = await list(page, "baselines?host=shop-db1", "baselines");
  const baseline = only(
    baselines.find(({ name }) => name === "Normal day of shop-db1"),
    "baseline of shop-db1",
  );
  const start = Date.parse(release.at ?? "");
  const iso = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
  const incident = `${iso(start)}/${iso(start + 45 * 60_000)}`;
  await page.goto(`${ORIGIN}/comparison?host=shop-db1&baseline=${String(baseline.id)}&incident=${incident}&tz=utc`);
  await expect(page.locator(".lead")).toContainText("postgres (17 processes)");
  await expect(page.locator(".answer-graph .sketch-incident")).not.toHaveAttribute("d", "");
  await take(page, "comparison");

  // The same on its own page, with the band of what is normal.
  const around = `from=${iso(start - 40 * 60_000)}&to=${iso(start + 45 * 60_000)}&tz=utc`;
  await page.goto(`${ORIGIN}/hosts/shop-db1?band=${String(baseline.id)}&${around}`);
  const drawn = page.locator("[data-panel]").filter({ has: page.locator(".js-line") });
  await expect(drawn.nth(7)).toBeAttached();
  await take(page, "host", 680);

  // Whether other hosts had it too.
  await page.goto(`${ORIGIN}/graph?v=1&hosts=shop-web1,shop-app1,shop-db1&field=disk.busy&${around}`);
  await expect(page.locator(".js-line").nth(2)).toBeAttached();
  await take(page, "graph");

  // What happened before, with causes and reports.
  await page.goto(`${ORIGIN}/incidents?tz=utc`);
  await expect(page.getByText("Slow pages while the backup ran")).toBeVisible();
  await take(page, "incidents", 700);

  // Where its CPU time went, before and after.
  const artefacts = await list(page, "artefacts", "artefacts");
  const [before, after] = ["before", "after"].map((side) =>
    only(
      artefacts.find(({ title }) => title === `Stacks of postgres ${side} the release`),
      `stacks ${side}`,
    ),
  );
  await page.goto(`${ORIGIN}/artefacts/diff?before=${String(before?.id)}&after=${String(after?.id)}`);
  await expect(page.getByText("heap_page_prepare_read").first()).toBeVisible();
  await take(page, "flame-diff");
});
