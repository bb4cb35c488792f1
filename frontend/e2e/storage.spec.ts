import { sendStream, VMSTAT_HEAD } from "./agent";
import { drawnPanel, expect, expectAccessible, showIn, test } from "./fixture";
import { HOST, INCIDENT, iso, range, WHOLE } from "./story";

const OLD = "old1";

test("the storage page shows disk usage by stat and by host", async ({ page }) => {
  await page.goto("/hosts");
  await page.getByRole("navigation").getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Storage" }).click();
  await expect(page.getByRole("navigation").getByRole("button", { name: "More: Storage" })).toBeVisible();
  const stats = page.getByRole("table", { name: "Sizes by stat" });
  await expect(stats.getByRole("row").filter({ hasText: "mpstat_linux" })).toContainText(/\d\.\d\d/);
  await expect(page.getByRole("table", { name: "Sizes by host" }).getByRole("link", { name: HOST, exact: true })).toBeVisible();
  await expect(page.getByRole("img", { name: /samples .*raw bytes/ })).toBeVisible();
  for (const colorScheme of ["light", "dark"] as const) {
    await showIn(page, colorScheme);
    await expectAccessible(page);
  }
});

test("the page warns clearly of a nearly full disk", async ({ page }) => {
  let days = 20;
  await page.route("**/api/v1/storage", async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as object;
    await route.fulfill({ json: { ...body, growth_bytes_per_day: 2e9, days_until_full: days, is_before_sealing: false } });
  });
  await page.goto("/storage");
  await expect(page.getByRole("alert")).toContainText("20 days");
  await expectAccessible(page);
  days = 3.5;
  await page.reload();
  await expect(page.getByRole("alert")).toContainText("nearly full");
  await expectAccessible(page);
});

test("a retention rule is explained, confirmed, saved, and deleted", async ({ page }) => {
  await page.goto("/storage");
  await page.getByRole("button", { name: "Add rule for a stat" }).click();
  const [rule, all] = [
    page.getByRole("group", { name: /^Rule for \w+_/ }),
    page.getByRole("group", { name: "Rule for all other" }),
  ];
  await rule.getByLabel("Keep samples (days)").fill("ten");
  await expect(rule.getByText(/whole days/)).toBeVisible();
  await expect(page.getByRole("button", { name: "Save" })).toBeDisabled();
  await rule.getByLabel("Keep samples (days)").fill("400");
  await all.getByLabel("Keep raw bytes (days)").fill("500");
  await page.getByRole("button", { name: "Save…" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete old data automatically" });
  await expect(dialog.getByRole("listitem")).toHaveCount(2);
  await expect(dialog).toContainText(/samples of \w+ before \d{4}-\d\d-\d\d \(UTC; currently kept forever\)/);
  await expect(dialog.getByRole("button", { name: "Save rules" })).toBeDisabled();
  await expectAccessible(page);
  await dialog.getByLabel("Type delete to confirm").fill("delete");
  await dialog.getByRole("button", { name: "Save rules" }).click();
  await expect(dialog).toBeHidden();
  await page.reload();
  await expect(rule.getByLabel("Keep samples (days)")).toHaveValue("400");
  await expect(page.getByRole("button", { name: "Apply rules now…" })).toBeEnabled();

  // Keeping more than before needs no confirmation.
  await rule.getByRole("button", { name: /Delete the rule/ }).click();
  await all
    .or(page.getByRole("group", { name: "Rule for all stats" }))
    .getByLabel("Keep raw bytes (days)")
    .fill("");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("button", { name: "Apply rules now…" })).toBeHidden();
});

test("a host is deleted once its name is typed, and its samples go", async ({ page, request }) => {
  const lines = [
    ...VMSTAT_HEAD,
    ...[1, 2, 3].map(
      (second) =>
        ` 1  0      0 812000  10244 409600    0    0     5    12  250  400  3  2 95  0  0 2026-11-20 10:00:0${String(second)}`,
    ),
  ];
  const text = `${lines.join("\n")}\n`;
  await sendStream(request, {
    host: OLD,
    spec: "vmstat_linux",
    key: "vmstat_linux.1795168800.9-1",
    command: "vmstat -t 1",
    text,
  });
  // The server measures at most once a minute, so its response may not include the host yet.
  await page.route("**/api/v1/storage", async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { hosts: { host: string }[] };
    const old = {
      host: OLD,
      sample_bytes: 5e6,
      chunk_bytes: 1e6,
      n_samples: 3,
      bytes_per_day: null,
      first_sample_at: null,
      last_sample_at: null,
    };
    await route.fulfill({ json: { ...body, hosts: [...body.hosts.filter(({ host }) => host !== OLD), old] } });
  });
  await page.goto("/storage");
  await page.getByRole("button", { name: `Delete ${OLD}` }).click();
  const dialog = page.getByRole("dialog", { name: `Delete host ${OLD}` });
  const button = dialog.getByRole("button", { name: "Delete host and all its data" });
  await dialog.getByLabel(`Type ${OLD} to confirm`).fill(HOST);
  await expect(button).toBeDisabled();
  await expectAccessible(page);
  await dialog.getByLabel(`Type ${OLD} to confirm`).fill(OLD);
  await button.click();
  await expect(dialog).toBeHidden();
  const row = page.getByRole("table", { name: "Deleted hosts" }).getByRole("row").filter({ hasText: OLD });
  await expect(row).toContainText("done");
  expect((await request.get(`/api/v1/hosts/${OLD}`)).status()).toBe(404);
});

test("a window is exported as CSV or as Parquet, for every stat", async ({ page }) => {
  await page.goto(`/hosts/${HOST}?${range({ start: INCIDENT.start, end: INCIDENT.start + 60_000 })}`);
  await drawnPanel(page, "mpstat_linux.cpu");
  await page.keyboard.press("d");
  const dialog = page.getByRole("dialog", { name: "Export" });
  await expect(dialog.getByRole("link", { name: "CSV of mpstat_linux" })).toBeVisible();
  const download = page.waitForEvent("download");
  await dialog.getByRole("link", { name: "Parquet of mpstat_linux" }).click();
  expect((await download).suggestedFilename()).toMatch(/\.parquet$/);
  await expectAccessible(page);
});

test("all CPUs are a heatmap that stays in the link; a zoom moves the drawing at once", async ({ page }) => {
  await page.goto(`/hosts/${HOST}?${range(WHOLE)}`);
  const { panel, surface } = await drawnPanel(page, "mpstat_linux.cpu");
  await expect(panel.locator(".plot")).toHaveAttribute("data-moved", "false");
  // Without a response, the graph moves its current drawing to the right place.
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/\/api\/v1\/series\?/, async (route) => {
    await held;
    await route.fallback().catch(() => undefined);
  });
  await surface.hover();
  await page.keyboard.press("-");
  await expect(panel.locator(".plot")).toHaveAttribute("data-moved", "true");
  await expect(panel.locator(".scatterlayer")).toHaveAttribute("style", /scale\(0\.5, 1\)/);
  await expect(panel.locator(".moved-ticks span").first()).toBeVisible();
  release();
  await expect(panel.locator(".plot")).toHaveAttribute("data-moved", "false");
  await page.unroute(/\/api\/v1\/series\?/);

  await panel
    .getByRole("button", { name: /^CPU|^all/ })
    .first()
    .click();
  await page.getByRole("menuitem", { name: "all as a heatmap (one row each)" }).click();
  await expect(page).toHaveURL(/instances=mpstat_linux\.cpu\.heatmap/);
  await expect(panel.locator(".heatmaplayer image")).toBeAttached();
  await page.reload();
  await expect(panel.getByRole("img", { name: /Heatmap of %\w+: 5 rows/ })).toBeVisible();
  expect(new URL(page.url()).searchParams.get("from")).not.toBe(iso(WHOLE.start));
});
