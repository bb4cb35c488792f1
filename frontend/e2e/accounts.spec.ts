import { expect, expectAccessible, test } from "./fixture";
import { HOST, range, SCREENSHOT_DIR, WHOLE } from "./story";

test("tokens are created, shown once, and revoked", async ({ page }) => {
  await page.goto("/accounts?tab=api-tokens");
  await page.getByRole("textbox", { name: "Name" }).fill("nightly export");
  await page.getByRole("button", { name: "Create token" }).click();
  await expect(page.getByText("Token “nightly export” (shown only once)")).toBeVisible();
  await page.reload();
  await expect(page.getByText("shown only once")).toBeHidden();
  await page.getByRole("button", { name: "Revoke nightly export" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await expect(page.getByRole("row").filter({ hasText: "nightly export" })).toContainText("revoked");

  await page.goto("/accounts?tab=agent-tokens");
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("one more host");
  await page.getByLabel("Host (optional)").fill("db1");
  await page.getByRole("button", { name: "Create token" }).click();
  await expect(page.getByText(/install\.sh/)).toBeVisible();
  const row = page.getByRole("row").filter({ hasText: "one more host" });
  await row.getByRole("button", { name: "Rotate one more host" }).click();
  await expect(row).toContainText("rotating");
  await page.getByLabel("Purpose").fill("new web servers");
  await page.getByRole("button", { name: "Create install command" }).click();
  await expect(page.getByText(/NORMSTAT_JOIN_TOKEN=nsj_/)).toBeVisible();
  await expect(page.getByRole("row").filter({ hasText: "new web servers" })).toContainText("0 of 50 hosts");
  await expectAccessible(page);
});

test(
  "a new viewer sees the graphs, but no actions that viewers may not take",
  { tag: "@matrix" },
  async ({ page, browser, baseURL }) => {
    await page.goto("/accounts?tab=users");
    await page.getByLabel("New account").fill("guest");
    await page.getByRole("textbox", { name: "Initial password" }).fill("three quiet harbours");
    await page.getByRole("button", { name: "Create account" }).click();
    await expect(page.getByRole("row").filter({ hasText: "guest" })).toContainText("enabled");

    const context = await browser.newContext({
      ...(baseURL === undefined ? {} : { baseURL }),
      storageState: { cookies: [], origins: [] },
    });
    const guest = await context.newPage();
    await guest.goto(
      `/hosts/${HOST}?${range(WHOLE)}&mark=${new Date(WHOLE.start).toISOString()}/${new Date(WHOLE.end).toISOString()}`,
    );
    await guest.getByRole("textbox", { name: "Name" }).fill("guest");
    await guest.getByRole("textbox", { name: "Password" }).fill("three quiet harbours");
    await guest.getByRole("button", { name: "Log in" }).click();
    await expect(guest.getByRole("button", { name: "Save as baseline…" })).toBeDisabled();
    await guest.goto("/accounts");
    await expect(guest.getByRole("tab", { name: "Agent tokens" })).toBeHidden();
    await expect(guest.getByLabel("Revoke the API tokens of this account")).toBeChecked();
    await context.close();

    const row = page.getByRole("row").filter({ hasText: "guest" });
    await row.getByRole("button", { name: "Sessions" }).click();
    await expect(page.getByRole("dialog").getByRole("row")).toHaveCount(2);
    await expect(page.getByRole("dialog")).toContainText("by password");
    await page.getByRole("dialog").getByRole("button", { name: "End all sessions" }).click();
    await expect(page.getByRole("dialog")).toContainText("No sessions");
    await expectAccessible(page.getByRole("dialog"));
    await page.getByRole("dialog").getByRole("button").first().click();

    await row.getByRole("button", { name: "Hosts of guest" }).click();
    await page.getByLabel("Only the hosts of host groups").check();
    await expect(page.getByRole("dialog")).toContainText("no host groups yet");
    await expectAccessible(page.getByRole("dialog"));
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await expect(row.getByRole("button", { name: "Hosts of guest" })).toHaveText("none");
    const again = await browser.newContext({
      ...(baseURL === undefined ? {} : { baseURL }),
      storageState: { cookies: [], origins: [] },
    });
    const limited = await again.newPage();
    await limited.goto("/login");
    await limited.getByRole("textbox", { name: "Name" }).fill("guest");
    await limited.getByRole("textbox", { name: "Password" }).fill("three quiet harbours");
    await limited.getByRole("button", { name: "Log in" }).click();
    await expect(limited.getByText("You see no hosts")).toBeVisible();
    await again.close();
    await row.getByRole("button", { name: "Hosts of guest" }).click();
    await page.getByLabel("All hosts").check();
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await expect(row.getByRole("button", { name: "Hosts of guest" })).toHaveText("all");

    await row.getByRole("button", { name: "Disable" }).click();
    await expect(page.getByRole("row").filter({ hasText: "guest" })).toContainText("disabled");
    await page.getByRole("row").filter({ hasText: "guest" }).getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await expect(page.getByRole("row").filter({ hasText: "guest" })).toBeHidden();

    await page.goto("/accounts?tab=audit");
    const made = page.getByRole("row").filter({ hasText: "create_user" });
    await expect(made).toContainText("guest");
    await expect(made).not.toContainText("harbours");
    await page.getByRole("textbox", { name: "Action, account" }).fill("delete_user");
    await expect(made).toBeHidden();
    await expect(page.getByRole("row").filter({ hasText: "delete_user" })).toContainText("guest");
    await expect(page).toHaveURL(/filter=delete_user/);
    await expectAccessible(page);
    if (SCREENSHOT_DIR !== null) {
      await page.screenshot({ path: `${SCREENSHOT_DIR}/audit.png` });
    }
  },
);
