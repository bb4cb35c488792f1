import { drawnPanel, expect, expectAccessible, test } from "./fixture";
import { BASELINE, HOST, iso } from "./story";

test("a baseline is listed, renamed, opened on its host, and deleted", async ({ page, request }) => {
  const made = await request.post("/api/v1/baselines", {
    headers: { "X-Normstat-Request": "1" },
    data: { name: "To be renamed", note: "", hosts: [HOST], windows: [{ start: iso(BASELINE.start), end: iso(BASELINE.end) }] },
  });
  expect(made.status()).toBe(201);
  await page.goto("/baselines?tz=utc");
  await page.getByRole("button", { name: "Edit To be renamed" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("Renamed");
  await page.getByLabel("Note").fill("calm");
  await page.getByRole("button", { name: "Save" }).click();
  const row = page.getByRole("row").filter({ hasText: "Renamed" });
  await expect(row).toContainText("calm");
  await expectAccessible(page);
  await row.getByRole("link", { name: HOST }).click();
  await drawnPanel(page, "mpstat_linux.cpu");
  await expect(page.locator(".strip").getByText("Renamed")).toBeVisible();
  await page.goBack();
  await page.getByRole("button", { name: "Delete Renamed" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(row).toBeHidden();
});

test("without baselines the page says how to mark one", async ({ page }) => {
  await page.route("**/api/v1/baselines", (route) => route.fulfill({ json: { baselines: [] } }));
  await page.goto("/baselines");
  await expect(page.getByText("Nothing is marked as normal yet")).toBeVisible();
});
