import { drawnPanel, expect, expectAccessible, test } from "./fixture";
import { BASELINE, HOST, INCIDENT, iso, LIVE_HOST, range, WHOLE } from "./story";

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
  await expect(row).toBeHidden();
  // Leaving the page deletes it. Not for the same page, which might still list it and then ask for its health.
  await page.goto("/views");
  await expect.poll(async () => await (await request.get("/api/v1/baselines")).text()).not.toContain("Renamed");
});

test("a baseline is recorded from now on, and stopped", { tag: "@matrix" }, async ({ page }) => {
  await page.goto("/baselines?tz=utc");
  await page.getByRole("button", { name: "Record now…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("From now on");
  await dialog.getByRole("combobox", { name: "Hosts" }).click();
  await page.getByRole("option", { name: LIVE_HOST, exact: true }).click();
  await dialog.getByLabel("Duration (hours)").fill("2");
  await expectAccessible(dialog);
  await dialog.getByRole("button", { name: "Start recording" }).click();
  const row = page.getByRole("row").filter({ hasText: "From now on" });
  await expect(row).toContainText("left");
  await row.getByRole("button", { name: "Stop recording From now on" }).click();
  await expect(row).not.toContainText("left");
  await row.getByRole("button", { name: /health and versions of From now on/ }).click();
  await expect(page.getByRole("dialog").getByRole("table", { name: "Versions" })).toBeVisible();
});

test("recurring hours are a baseline; it is copied, archived and restored", { tag: "@matrix" }, async ({ page }) => {
  await page.goto("/baselines?tz=utc");
  await page.getByRole("button", { name: "Recurring rule…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Office hours");
  await dialog.getByRole("combobox", { name: "Hosts" }).click();
  await page.getByRole("option", { name: HOST, exact: true }).click();
  // The list of hosts stays open for further choices, and may cover the days.
  await dialog.getByRole("combobox", { name: "Hosts" }).press("Tab");
  await dialog.getByText("Sat", { exact: true }).click();
  await expect(dialog.getByRole("status")).toContainText(
    "Mon, Tue, Wed, Thu, Fri, Sat 09:00–17:00 UTC, keeping the last 4 weeks",
  );
  await dialog.getByText("Sat", { exact: true }).click();
  await dialog.getByRole("button", { name: "Create baseline" }).click();
  const row = page.getByRole("row").filter({ hasText: "Office hours" });
  await expect(row).toContainText("weekdays 09:00–17:00 UTC, keeping the last 4 weeks");
  await row.getByRole("button", { name: "Copy Office hours" }).click();
  await page.getByLabel("Name of the copy").fill("Copied hours");
  await page.getByRole("dialog").getByRole("button", { name: "Copy" }).click();
  const copy = page.getByRole("row").filter({ hasText: "Copied hours" });
  await copy.getByRole("button", { name: "Archive Copied hours" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Archive" }).click();
  await expect(copy).toBeHidden();
  await page.getByRole("tab", { name: "Archived" }).click();
  await copy.getByRole("button", { name: "Restore Copied hours" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
  await expect(copy).toBeHidden();
  await page.getByRole("tab", { name: "In use" }).click();
  await expect(copy).toBeVisible();
});

test(
  "an excluded period is on the strip and listed, and included again; hosts are grouped",
  { tag: "@matrix" },
  async ({ page }) => {
    const asked = new Set<string>();
    page.on("request", (request) => {
      if (request.url().includes("/api/v1/comparison/stream?")) asked.add(request.url());
    });
    await page.goto(`/hosts/${HOST}?${range(WHOLE)}&mark=${iso(INCIDENT.start)}/${iso(INCIDENT.end)}`);
    await drawnPanel(page, "mpstat_linux.cpu");
    // That with the hour before is not begun until the baselines are known.
    await expect.poll(() => asked.size).toBe(1);
    await page.getByRole("button", { name: "More actions for the selection" }).click();
    await page.getByRole("menuitem", { name: /^Exclude from baselines…/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name" }).fill("The backup");
    await dialog.getByRole("button", { name: "Exclude" }).click();
    await expect(dialog).toContainText("Excluded “The backup” from");
    await dialog.getByRole("button", { name: "Close" }).last().click();
    await expect(page.locator(".strip").getByText("excluded: The backup")).toBeVisible();
    await page.goto("/baselines?tab=exclusions&tz=utc");
    await expect(page.getByRole("table", { name: "Excluded periods" })).toContainText("The backup");
    await page.getByRole("button", { name: "Include The backup again" }).click();
    await expect(page.getByText("No excluded periods")).toBeVisible();

    await page.goto("/baselines?tab=groups");
    await page.getByRole("button", { name: "New host group…" }).click();
    await dialog.getByRole("textbox", { name: "Name" }).fill("Web servers");
    await dialog.getByRole("combobox", { name: "Hosts" }).click();
    await page.getByRole("option", { name: HOST, exact: true }).click();
    await dialog.getByRole("textbox", { name: "Name" }).click();
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect(page.getByRole("table", { name: "Host groups" })).toContainText(HOST);
    await page.getByRole("button", { name: "Delete group Web servers" }).click();
    await expect(page.getByText("No host groups yet")).toBeVisible();
    await page.getByRole("button", { name: "Close message" }).click();
  },
);
