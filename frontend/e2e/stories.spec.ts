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

test("the answer, six cards and the graph of the first fit a screen of 1280 x 900", async ({ page }) => {
  const stories = [...Array(6).keys()].map((index) => madeStory(index + 1, [index + 1]));
  await answer(page, madeComparison(6, { stories }));
  await page.goto(ASKED);
  await expect(page.locator(".answer-card")).toHaveCount(6);
  const box = await page.locator(".answer-graph").boundingBox();
  expect((box?.y ?? 0) + (box?.height ?? 0), "the graph ends on the screen").toBeLessThanOrEqual(900);
});

test("the replayed incident is told with its process first", { tag: "@matrix" }, async ({ page }) => {
  const window = ({ start, end }: { readonly start: number; readonly end: number }) => `${iso(start)}/${iso(end)}`;
  await page.goto(`/comparison?host=${HOST}&baseline_window=${window(BASELINE)}&incident=${window(INCIDENT)}&tz=utc`);
  await expect(page.locator(".lead")).toContainText("tar (28110)");
  await expect(page.locator(".headline-subject")).toContainText("Disk");
  await page
    .locator(".answer-details")
    .getByRole("list", { name: "Processes" })
    .getByRole("link", { name: /^tar \(28110\)/ })
    .click();
  await expect(page).toHaveURL(/\/hosts\/web1\?.*tab=processes.*command=tar&pid=28110/);
  await expect(page.getByRole("heading", { name: "tar (28110)" })).toBeVisible();
});
