import { askAlone, expect, expectAccessible, SCHEMES, showIn, test } from "./fixture";
import { HOST, LIVE_HOST } from "./story";

test("hosts are listed with their state, the live one keeps coming, and one more is added by a command", async ({ page }) => {
  await page.goto("/hosts");
  const live = page.getByRole("row").filter({ has: page.getByRole("link", { name: LIVE_HOST, exact: true }) });
  await expect(live.getByText("live", { exact: true })).toBeVisible();
  const before = await live.locator("time").last().textContent();
  await expect(live.locator("time").last()).not.toHaveText(before ?? "");
  await expect(page.getByRole("link", { name: HOST, exact: true })).toBeVisible();
  for (const colorScheme of SCHEMES) {
    await showIn(page, colorScheme);
    await expectAccessible(page);
  }
  await page.getByRole("button", { name: "Add a host" }).click();
  await page.getByLabel("Host names (optional)").fill("web2");
  await page.getByRole("button", { name: "Create install command" }).click();
  await expect(page.getByText(/curl .*install\.sh .*NORMSTAT_JOIN_TOKEN=nsj_/)).toBeVisible();
});

test("of a thousand hosts only the rows in view are drawn", { tag: "@matrix" }, async ({ page }) => {
  await askAlone(page);
  await page.route("**/api/v1/fleet*", async (route) => {
    const answer = await route.fetch();
    const fleet = (await answer.json()) as { hosts: { name: string }[] };
    const hosts = Array.from({ length: 1000 }, (_, number) => ({
      ...fleet.hosts.find(({ name }) => name === LIVE_HOST),
      name: `host${String(number)}`,
    }));
    await route.fulfill({ json: { ...fleet, hosts } });
  });
  await page.goto("/hosts?sort=name");
  await expect(page.getByText("1,000 hosts")).toBeVisible();
  expect(await page.locator(".fleet-row").count()).toBeLessThan(80);
  await page.locator(".fleet-row").first().focus();
  await page.keyboard.press("End");
  await expect(page.getByRole("link", { name: "host999", exact: true })).toBeVisible();
  await expect(page.locator('[data-row="999"]')).toBeFocused();
});
