import type { Page } from "@playwright/test";
import { expect, expectAccessible, SCHEMES, showIn, test } from "./fixture";

/** Nothing listens there: the server is refused at once. */
const REFUSES = "http://127.0.0.1:9/hook";

const row = (page: Page, name: string) =>
  page.getByRole("table", { name: "Webhooks", exact: true }).getByRole("row").filter({ hasText: name });

test("a webhook is created, tested, changed and deleted", { tag: "@matrix" }, async ({ page }) => {
  const name = `bot ${String(Date.now() % 1_000_000)}`;
  await page.goto("/watch?tab=webhooks");
  await page.getByRole("button", { name: "New webhook" }).click();
  const dialog = page.getByRole("dialog");
  const save = dialog.getByRole("button", { name: "Save" });
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill(name);
  await dialog.getByLabel("URL", { exact: true }).fill(REFUSES);
  // A webhook is told of something.
  await save.click();
  await expect(dialog.getByText("Choose at least one")).toBeVisible();
  // Of what no other test and no agent does meanwhile.
  await dialog.getByRole("checkbox", { name: "Run stored", exact: true }).check();
  await dialog.getByRole("checkbox", { name: "Comparison deleted", exact: true }).check();
  await expectAccessible(dialog);
  await save.click();

  const key = page.getByRole("alert").filter({ hasText: `Signing key of ${name} (shown only once)` });
  await expect(key.getByRole("button", { name: "Copy the signing key" })).toBeVisible();
  const webhook = row(page, name);
  await expect(webhook).toContainText("http://127.0.0.1:9");
  await expect(webhook).not.toContainText("/hook");
  await expect(webhook).toContainText("Comparison deleted, Run stored");
  await expect(webhook).toContainText("none waiting, none failed");
  await webhook.getByRole("button", { name: `Send a test: ${name}` }).click();
  await expect(webhook.getByRole("status").filter({ hasText: "Not sent: " })).toBeVisible();
  for (const colorScheme of SCHEMES) {
    await showIn(page, colorScheme);
    await expectAccessible(page);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.setViewportSize({ width: 1280, height: 900 });
  await key.getByRole("button", { name: "Close" }).click();
  await expect(key).toHaveCount(0);

  // The URL stays without being shown, and so does the key.
  await webhook.getByRole("button", { name: `Edit ${name}` }).click();
  await expect(dialog.getByLabel("URL", { exact: true })).toHaveValue("");
  await dialog.getByRole("checkbox", { name: "Sends messages" }).uncheck();
  await save.click();
  await expect(dialog).toHaveCount(0);
  await expect(key).toHaveCount(0);
  await expect(webhook.getByRole("cell", { name: "off", exact: true })).toBeVisible();

  await webhook.getByRole("link", { name: `Last deliveries: ${name}` }).click();
  await expect(page).toHaveURL(/[?&]webhook=\d+/);
  await expect(page.getByText("Nothing sent yet")).toBeVisible();
  await page.getByRole("link", { name: "All webhooks" }).click();
  await webhook.getByRole("button", { name: `Delete ${name}` }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(webhook).toHaveCount(0);
});
