import { expect, test } from "./fixture";
import { LOGIN_LINK, STATE } from "./story";

test("a one-time link logs in, leaves no trace of its token, and asks for a password", async ({ page }) => {
  await page.goto(LOGIN_LINK);
  await expect(page.getByRole("heading", { name: "Hosts" })).toBeVisible();
  expect(page.url()).not.toContain("token");
  await expect(page.getByText("Your one-time link is used up")).toBeVisible();
  await page.getByRole("button", { name: "Remind me next time" }).click();
  await expect(page.getByText("Your one-time link is used up")).toBeHidden();

  await page.goto("/accounts");
  await page.getByLabel("New password").fill("correct horse battery");
  await page.getByLabel("Repeat password").fill("correct horse battery");
  await page.getByRole("button", { name: "Set password" }).click();
  await expect(page.getByText("Password set.")).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Accounts and tokens" })).toBeVisible();
  await expect(page.getByText("Your one-time link is used up")).toBeHidden();
  await page.context().storageState({ path: STATE });
});
