import { sendVmstat } from "./agent";
import { expect, expectAccessible, test } from "./fixture";

const HOST = "phone1";

test.use({ viewport: { width: 390, height: 844 } });

test.beforeAll(async ({ request }) => {
  await sendVmstat(request, HOST, 30);
});

/** Each page with what says that it is there. */
const PAGES: readonly (readonly [path: string, shown: string])[] = [
  ["/hosts", ".fleet-table"],
  [`/hosts/${HOST}`, ".panel .legend-entry"],
  [`/hosts/${HOST}?tab=facts`, "h1"],
  [`/hosts/${HOST}?tab=streams`, ".card"],
  [`/graph?hosts=${HOST}`, ".graph-body"],
  ["/comparison", "h1"],
  ["/baselines", "h1"],
  ["/incidents", "h1"],
  ["/events", "h1"],
  ["/imports", "h1"],
  ["/jobs", "h1"],
  ["/specs", "h1"],
  ["/storage", "h1"],
  ["/installation", "table"],
  ["/views", "table"],
  ["/accounts?tab=users", "h1"],
];

test("no page is wider than a phone", { tag: "@matrix" }, async ({ page }) => {
  for (const [path, shown] of PAGES) {
    await page.goto(path);
    await expect(page.locator("main").locator(shown).first()).toBeAttached();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width, path).toBeLessThanOrEqual(390);
  }
});

test("the pages and what is seldom used fold into one menu", async ({ page }) => {
  await page.goto("/views");
  await expect(page.getByRole("button", { name: /^Times: / })).toBeHidden();
  await page.getByRole("button", { name: "Pages" }).click();
  await expect(page.getByRole("button", { name: /^Times: / })).toBeVisible();
  await expect(page.getByRole("button", { name: "Keyboard shortcuts" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Compare", exact: true }).click();
  await expect(page).toHaveURL(/\/comparison/);
  await expect(page.getByRole("button", { name: /^Times: / })).toBeHidden();
});
