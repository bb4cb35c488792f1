import { expect, expectAccessible, test } from "./fixture";
import { HOST, LIVE_HOST } from "./story";

test("hosts are listed with their state, and the live one keeps coming", async ({ page }) => {
  await page.goto("/hosts");
  const live = page.getByRole("row").filter({ has: page.getByRole("link", { name: LIVE_HOST, exact: true }) });
  await expect(live.getByText("live", { exact: true })).toBeVisible();
  const before = await live.locator("time").last().textContent();
  await expect(live.locator("time").last()).not.toHaveText(before ?? "");
  await expect(page.getByRole("link", { name: HOST, exact: true })).toBeVisible();
  await expectAccessible(page);
});

test("an administrator gets the install command for a host", async ({ page }) => {
  await page.goto("/hosts");
  await page.getByRole("button", { name: "Add a host" }).click();
  await page.getByLabel("Host names (optional)").fill("web2");
  await page.getByRole("button", { name: "Create install command" }).click();
  await expect(page.getByText(/curl .*install\.sh .*NORMSTAT_JOIN_TOKEN=nsj_/)).toBeVisible();
});

test("without a host the page says what to do next", async ({ page }) => {
  await page.route("**/api/v1/fleet*", (route) =>
    route.fulfill({ json: { end_ms: Date.now(), n_minutes: 60, n_minutes_read: 60, n_recent_minutes: 5, hosts: [] } }),
  );
  await page.goto("/hosts");
  await expect(page.getByText("No hosts yet")).toBeVisible();
  await expect(page.getByRole("button", { name: "Create install command" })).toBeVisible();
});

test.describe("when the server fails", () => {
  test.use({ expectedErrors: /status of 503|Failed to load resource/ });

  test("the error is shown with code and request id, and the request can be retried", async ({ page }) => {
    let isAway = true;
    await page.route("**/api/v1/fleet*", (route) =>
      isAway
        ? route.fulfill({
            status: 503,
            json: { error: { code: "database_away", message: "The database does not answer", details: {}, request_id: "r-123" } },
          })
        : route.fallback(),
    );
    await page.goto("/hosts");
    await expect(page.getByRole("alert").getByText("The database does not answer")).toBeVisible();
    await expect(page.getByText("r-123")).toBeVisible();
    isAway = false;
    await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.getByRole("link", { name: HOST, exact: true })).toBeVisible();
  });
});
