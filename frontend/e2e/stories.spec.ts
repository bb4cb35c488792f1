import type { Page } from "@playwright/test";
import { madeComparison, madeStory } from "../src/logic/comparison_fixture";
import type { Comparison } from "../src/logic/api";
import { answerSeries, expect, test } from "./fixture";
import { BASELINE, HOST, INCIDENT, iso } from "./story";

const ASKED = `/comparison?host=${HOST}&ago=day&incident=2026-11-21T09:35:00Z/2026-11-21T09:45:00Z&tz=utc`;

async function answer(page: Page, result: Comparison): Promise<void> {
  await answerSeries(page);
  await page.route("**/api/v1/comparison/stream?*", (route) =>
    route.fulfill({ contentType: "application/x-ndjson", body: `${JSON.stringify({ result })}\n` }),
  );
}

test("six stories fit a screen of 1280 x 900, the others are one press away", async ({ page }) => {
  const stories = [...Array(9).keys()].map((index) => madeStory(index + 1, [index + 1]));
  await answer(page, madeComparison(9, { stories }));
  await page.goto(ASKED);
  await expect(page.locator(".story")).toHaveCount(7);
  const box = await page.locator(".story").nth(5).boundingBox();
  expect((box?.y ?? 0) + (box?.height ?? 0), "six rows end on the screen").toBeLessThanOrEqual(900);
  await page.getByRole("button", { name: "Show 2 more stories" }).click();
  await expect(page.locator(".story")).toHaveCount(9);
});

test("the replayed incident is told with its process first", { tag: "@matrix" }, async ({ page }) => {
  const window = ({ start, end }: { readonly start: number; readonly end: number }) => `${iso(start)}/${iso(end)}`;
  await page.goto(`/comparison?host=${HOST}&baseline_window=${window(BASELINE)}&incident=${window(INCIDENT)}&tz=utc`);
  await expect(page.locator(".lead")).toContainText("tar (28110)");
  const first = page.locator(".story").first();
  await expect(first).toContainText("Disk I/O");
  await first
    .getByRole("list", { name: "Processes" })
    .getByRole("link", { name: /^tar \(28110\)/ })
    .click();
  await expect(page).toHaveURL(/\/hosts\/web1\?.*tab=processes.*command=tar&pid=28110/);
  await expect(page.getByRole("heading", { name: "tar (28110)" })).toBeVisible();
});
