import type { Page } from "@playwright/test";
import { OURS } from "./agent";
import { expect, expectAccessible, showIn, test } from "./fixture";

/** Nothing listens there: the server is refused at once. */
const REFUSES = "http://127.0.0.1:9/hook";
const TOPICS = [
  "event.created",
  "event.changed",
  "event.deleted",
  "baseline.created",
  "baseline.changed",
  "baseline.deleted",
  "comparison.saved",
  "comparison.deleted",
  "experiment_run.stored",
];

const row = (page: Page, name: string) =>
  page.getByRole("table", { name: "Webhooks", exact: true }).getByRole("row").filter({ hasText: name });

test("a webhook is created, tested, changed and deleted", async ({ page }) => {
  const name = `bot ${String(Date.now() % 1_000_000)}`;
  await page.goto("/watch?tab=webhooks");
  await page.getByRole("button", { name: "New webhook" }).click();
  const dialog = page.getByRole("dialog");
  const save = dialog.getByRole("button", { name: "Save" });
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill(name);
  await dialog.getByLabel("URL", { exact: true }).fill(REFUSES);
  // A webhook is told of something.
  await expect(save).toBeDisabled();
  // Of what no other test and no agent does meanwhile.
  await dialog.getByRole("checkbox", { name: "Run stored", exact: true }).check();
  await dialog.getByRole("checkbox", { name: "Comparison deleted", exact: true }).check();
  await expectAccessible(page);
  await save.click();

  const key = page.getByRole("alert").filter({ hasText: `Signing key of ${name} (shown only once)` });
  await expect(key.getByRole("button", { name: "Copy the signing key" })).toBeVisible();
  const webhook = row(page, name);
  await expect(webhook).toContainText("http://127.0.0.1:9");
  await expect(webhook).not.toContainText("/hook");
  await expect(webhook).toContainText("Comparison deleted, Run stored");
  await expect(webhook).toContainText("none waits, none failed");
  await webhook.getByRole("button", { name: `Send a test: ${name}` }).click();
  await expect(webhook.getByRole("status").filter({ hasText: "Not sent: " })).toBeVisible();
  for (const colorScheme of ["dark", "light"] as const) {
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
  await expect(page.getByText("Nothing was sent yet")).toBeVisible();
  await page.getByRole("link", { name: "All webhooks" }).click();
  await webhook.getByRole("button", { name: `Delete ${name}` }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(webhook).toHaveCount(0);
});

test("what failed is told with the receiver's words, and can be sent again", async ({ page }) => {
  const at = new Date().toISOString();
  const webhook = {
    id: 3,
    name: "deploy bot",
    endpoint: "https://bot.example.org",
    signing_key: null,
    topics: ["event.created"],
    is_enabled: true,
    created_by: "ann",
    created_at: at,
    updated_by: "ann",
    updated_at: at,
    held_until: null,
    n_unsent: 0,
    n_failed: 1,
  };
  const delivery = {
    id: 7,
    key: "5f0c6a39-8a5e-4c0c-8f5e-0f7d4f2f6a52",
    topic: "event.created",
    state: "failed",
    n_tries: 12,
    created_at: at,
    next_try_at: at,
    sent_at: null,
    answer: "HTTP 403: no such bot",
  };
  // A delivery is given up after a day only.
  await page.route("**/api/v1/webhooks", (route) => route.fulfill({ json: { webhooks: [webhook], topics: TOPICS } }));
  await page.route("**/api/v1/webhooks/3/deliveries?*", (route) => route.fulfill({ json: { deliveries: [delivery] } }));
  const asked: string[] = [];
  await page.route("**/api/v1/webhook-deliveries/7/retry", (route) => {
    asked.push(route.request().method());
    return route.fulfill({ json: { ...delivery, state: "queued", n_tries: 0 } });
  });
  await page.goto("/watch?tab=webhooks&webhook=3");
  const deliveries = page.getByRole("table", { name: "Last deliveries" });
  await expect(page.getByRole("table", { name: "deploy bot" })).toContainText("1 message failed");
  await expect(deliveries).toContainText("failed (12 attempts)");
  await expect(deliveries).toContainText("HTTP 403: no such bot");
  await expectAccessible(page);
  await deliveries.getByRole("button", { name: "Send again: delivery 7" }).click();
  await expect.poll(() => asked).toEqual(["POST"]);
  await page.goto("/watch?tab=webhooks&webhook=4");
  await expect(page.getByText("There is no webhook 4")).toBeVisible();
});

test("who may only look reads what webhooks are for, and has no buttons", async ({ page }) => {
  await page.route("**/api/v1/auth/me", async (route) => {
    const answer = await route.fetch({ headers: { ...route.request().headers(), ...OURS } });
    await route.fulfill({ json: { ...((await answer.json()) as object), role: "viewer" } });
  });
  await page.route("**/api/v1/webhooks", (route) => route.fulfill({ json: { webhooks: [], topics: TOPICS } }));
  await page.goto("/watch?tab=webhooks");
  await expect(page.getByText("There is no webhook yet")).toBeVisible();
  await expect(page.getByText("An administrator can add one.")).toBeVisible();
  await expect(page.getByText("docs/webhooks.md")).toBeVisible();
  await expect(page.getByRole("button", { name: "New webhook" })).toHaveCount(0);
  await expectAccessible(page);
});
