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

async function take(page: Page, name: string): Promise<void> {
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: `${FOLDER}/${name}.png` });
}

test("the pictures of the documentation", async ({ page }) => {
  await page.goto(LINK);
  await expect(page.getByText("Read-only:")).toBeVisible();

  // Which host is unlike its normal: the page after the login.
  await expect(page.getByRole("link", { name: "shop-db1" })).toBeVisible();
  await expect(page.getByText("very unusual")).toBeVisible();
  // The server names the process some seconds later.
  await expect(page.getByText(/postgres \(17 processes\) read/)).toBeVisible({ timeout: 180_000 });
  await page.setViewportSize({ width: 1280, height: 360 });
  await take(page, "hosts");
  await page.setViewportSize({ width: 1280, height: 900 });

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
