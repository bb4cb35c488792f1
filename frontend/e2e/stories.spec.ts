import type { Page } from "@playwright/test";
import { madeComparison, madeStory } from "../src/logic/comparison_fixture";
import type { Comparison } from "../src/logic/api";
import { answerSeries, expect, expectAccessible, showIn, test } from "./fixture";
import { BASELINE, HOST, INCIDENT, iso } from "./story";

const ASKED = `/comparison?host=${HOST}&ago=day&incident=2026-11-21T09:35:00Z/2026-11-21T09:45:00Z&tz=utc`;

async function answer(page: Page, result: Comparison): Promise<void> {
  await answerSeries(page);
  await page.route("**/api/v1/comparison/stream?*", (route) =>
    route.fulfill({ contentType: "application/x-ndjson", body: `${JSON.stringify({ result })}\n` }),
  );
}

const CPU = {
  topic: "cpu",
  title: "CPU",
  sentence: "CPUs waited 34 % of the time (normally 0 to 1 %).",
  processes: [],
  onset_ms: null,
};
const START = Date.UTC(2026, 10, 21, 9, 35);
const RANKS = [...Array(12).keys()].map((index) => index + 1);
const TWO = madeComparison(14, {
  stories: [madeStory(1, RANKS), madeStory(2, [13, 14], CPU)],
  notes: ["The baseline has only 4 minutes of data; use at least 10."],
  circumstances: [
    {
      kind: "event",
      host: HOST,
      sentence: "deployed 1.4, 15 s before it began",
      start_ms: START + 12_000 - 15_000,
      end_ms: null,
    },
    {
      kind: "observer",
      host: HOST,
      sentence: "Observer: truss (7) ran for 20 s, from 10 s into the incident on; it slows what it watches",
      start_ms: START + 10_000,
      end_ms: START + 30_000,
      command: "truss",
    },
    {
      kind: "rejected_lines",
      host: HOST,
      sentence: "3 lines of iostat were rejected in this window",
      start_ms: START,
      end_ms: START + 60_000,
      stream_id: 7,
    },
  ],
});

test("two stories are read and opened by keyboard alone, in light and dark", async ({ page }) => {
  await answer(page, TWO);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.goto(ASKED);
    await showIn(page, colorScheme);
    await expect(page.locator(".lead")).toHaveText(TWO.stories?.[0]?.sentence ?? "");
    await expect(page.getByRole("list", { name: "Notes" })).toContainText("only 4 minutes of data");
    const around = page.getByRole("list", { name: "Around the incident" });
    await expect(around.getByRole("listitem").first()).toHaveText("09:34:57deployed 1.4, 15 s before it began");
    await expect(around.getByRole("listitem").nth(1)).toContainText("09:35:10 to 09:35:30");
    await expect(around.getByRole("link", { name: "3 lines of iostat" })).toHaveAttribute("href", /tab=rejected.*&stream=7/);
    const [first, second] = [page.locator(".story").first(), page.locator(".story").nth(1)];
    await expect(first).toContainText("began 09:35:12, 12 s into the incident");
    await expect(first.getByRole("link", { name: "dd (29206) new, since 09:35:12" })).toBeVisible();
    await expect(first.getByRole("list", { name: "Also seen by" })).toContainText("bo (vmstat)");
    await expect(first.locator(".sketch-incident")).not.toHaveAttribute("d", "");
    await expect(second).not.toContainText("began");
    await expectAccessible(page);

    await first.getByRole("button", { name: "Disk I/O" }).focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await expect(first.getByRole("button", { name: "Disk I/O" })).toHaveAttribute("aria-expanded", "true");
    await expect(first.locator(".finding")).toHaveCount(10);
    // A line of the evidence leads to its group.
    await first.getByRole("list", { name: "Evidence" }).getByRole("link", { name: "detail 2" }).focus();
    await page.keyboard.press("Enter");
    await expect(first.locator(".finding").nth(1)).toBeFocused();
    await expectAccessible(page);
    await first.getByRole("button", { name: "Show all 12 changes" }).focus();
    await page.keyboard.press("Enter");
    await expect(first.locator(".finding")).toHaveCount(12);
    await first.getByRole("button", { name: "Disk I/O" }).focus();
    await page.keyboard.press("Space");
    await expect(first.locator(".finding")).toHaveCount(0);
  }
});

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

test("all changes are the other list, and the link says which", async ({ page }) => {
  await answer(page, TWO);
  await page.goto(ASKED);
  await expect(page.locator(".story")).toHaveCount(2);
  await page.locator(".list-switch").getByText("All changes").click();
  await expect(page).toHaveURL(/list=changes/);
  await expect(page.locator(".finding")).toHaveCount(14);
  await page.locator(".list-switch").getByText("Stories").click();
  await expect(page.locator(".story")).toHaveCount(2);
  await expect(page).not.toHaveURL(/list=/);
  // An order belongs to all changes.
  await page.goto(`${ASKED}&sort=name`);
  await expect(page.locator(".finding")).toHaveCount(14);
});

test("without a clear difference there is no tick while series were not judged", async ({ page }) => {
  const verdict = "No clear difference: none of 1,310 series changed more than it usually does.";
  const few = {
    host: HOST,
    stat: "iostat_linux",
    field: "util_pct",
    instance: "sda",
    n_baseline: 1,
    n_incident: 1,
    reason: "few",
  };
  const counts = { appeared: 0, disappeared: 0, insufficient_data: 1, muted: 0 };
  await answer(page, madeComparison(0, { verdict, counts, insufficient_data: [few] }));
  await page.goto(ASKED);
  const region = page.getByRole("region", { name: "Verdict" });
  await expect(region).toContainText(verdict);
  await expect(region).toContainText("Series without enough samples were not judged");
  await expect(region).toHaveAttribute("data-clear", "false");
  await expectAccessible(page);
});

test("the replayed incident is told with its process first", async ({ page }) => {
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
