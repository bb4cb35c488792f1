import { expect, expectAccessible, SCHEMES, showIn, test } from "./fixture";
import { BASELINE, HOST, INCIDENT, iso, SCREENSHOT_DIR } from "./story";

const COMPARED =
  `/comparison?host=${HOST}&baseline_window=${iso(BASELINE.start)}/${iso(BASELINE.end)}` +
  `&incident=${iso(INCIDENT.start)}/${iso(INCIDENT.end)}&tz=utc`;

test("any metric can be asked about, and chips list every other series with both values and the reason", async ({ page }) => {
  await page.goto(COMPARED);
  const field = page.getByRole("textbox", { name: "Ask about a metric" });
  await field.fill("util");
  await expect(page).toHaveURL(/ask=util/);
  const answer = page.getByRole("table", { name: "Series that were asked for" });
  const rows = answer.locator("tbody tr");
  await expect(rows.first()).toContainText("%util");
  await expect(rows.filter({ hasText: "sdb" }).first()).toContainText("unusual");
  await expect(rows.filter({ hasText: "sda" }).first()).toContainText("x its normal variation");
  for (const row of await rows.all()) {
    await expect(row).toContainText(/util/);
  }

  // Sorted by name, up and down.
  await answer.getByRole("button", { name: "Series" }).click();
  await expect(answer.getByRole("columnheader", { name: "Series" })).toHaveAttribute("aria-sort", "ascending");
  await expect(rows.first().locator("td").first()).toContainText("sda");
  await answer.getByRole("button", { name: "Series" }).click();
  await expect(answer.getByRole("columnheader", { name: "Series" })).toHaveAttribute("aria-sort", "descending");
  await expect(rows.first().locator("td").first()).toContainText("sdb");

  await field.fill("no such thing");
  await expect(page.getByText("No series matches “no such thing”")).toBeVisible();
  await page.getByRole("button", { name: "Clear the question" }).click();
  await expect(answer).toBeHidden();

  // The link alone asks the same, and the chips list the others.
  await page.goto(`${COMPARED}&ask=await%20sdb`);
  await expect(field).toHaveValue("await sdb");
  await expect(rows.first()).toContainText("sdb");
  const chips = page.getByRole("group", { name: "Which series" });
  await chips.getByRole("button", { name: /^unchanged [1-9]/ }).click();
  const unchanged = page.getByRole("table", { name: "Unchanged series" });
  await expect(unchanged.locator("tbody tr").first()).toContainText("A strong change is unusual from");
  for (const colorScheme of SCHEMES) {
    await showIn(page, colorScheme);
    await expectAccessible(page);
    for (const width of [1920, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
      if (SCREENSHOT_DIR !== null) {
        await page.screenshot({ path: `${SCREENSHOT_DIR}/ask-${String(width)}-${colorScheme}.png` });
      }
    }
  }
  await page.getByLabel("Filter").fill("iostat");
  await expect(unchanged.locator("tbody tr").first()).toContainText("(iostat)");
  await page.getByLabel("Filter").fill("");
  await chips.getByRole("button", { name: /^new [1-9]/ }).click();
  await expect(page.getByRole("table", { name: "New series" })).toContainText("Not in the baseline.");
});

test("single samples are put side by side instead of nothing", { tag: "@matrix" }, async ({ page }) => {
  const second = 1000;
  const baseline = `${iso(BASELINE.start)}/${iso(BASELINE.start + second)}`;
  const incident = `${iso(INCIDENT.start + 60 * second)}/${iso(INCIDENT.start + 61 * second)}`;
  await page.goto(`/comparison?host=${HOST}&baseline_window=${baseline}&incident=${incident}&tz=utc`);
  await expect(page.getByText(/^Insufficient data: none of/)).toBeVisible();
  const table = page.getByRole("table", { name: "Series without enough data" });
  await expect(table.locator("tbody tr").first()).toContainText("No verdict: 1 sample");
});
