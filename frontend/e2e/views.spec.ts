import { readFileSync } from "node:fs";
import { sendVmstat } from "./agent";
import { expect, expectAccessible, showIn, test } from "./fixture";
import { SCREENSHOT_DIR } from "./story";

const HOST = "views1";
const WINDOW = "from=2026-11-22T00:00:00Z&to=2026-11-22T00:01:00Z&tz=utc";

test.beforeAll(async ({ request }) => {
  await sendVmstat(request, HOST, 60);
});

test(
  "a ready-made view shows what the host has and names what it lacks; a view that is gone is said so",
  { tag: "@matrix" },
  async ({ page }) => {
    await page.goto(`/hosts/${HOST}?${WINDOW}&view=use`);
    const section = page.getByRole("region", { name: "USE: every resource" });
    await expect(section.locator(".panel .legend").first()).toBeVisible();
    await expect(section.getByRole("heading", { name: "CPU saturation: run queue" })).toBeVisible();
    await expect(section.getByText("Not recorded on this host:")).toContainText("Disk errors (iostat_e_solaris)");
    await expectAccessible(page);

    await page.getByRole("button", { name: "View: USE: every resource" }).click();
    await page.getByRole("menuitem", { name: "Overview and everything recorded" }).click();
    await expect(page).not.toHaveURL(/view=/);
    await expect(page.locator('[data-panel="vmstat_linux.memory"]')).toBeVisible();

    await page.goto(`/hosts/${HOST}?${WINDOW}&view=gone`);
    await expect(page.getByText("No view named gone")).toBeVisible();
    await page.getByRole("button", { name: "Show everything recorded" }).click();
    await expect(page.locator('[data-panel="vmstat_linux.memory"]')).toBeVisible();
  },
);

test("panels are saved as a view, edited, opened with another view, exported, deleted and imported", async ({ page }) => {
  await page.goto(`/hosts/${HOST}?${WINDOW}&panel=vmstat_linux.system_cs.`);
  await page.getByRole("button", { name: "View: Overview" }).click();
  await page.getByRole("menuitem", { name: "Save these panels as a view" }).click();
  const dialog = page.getByRole("dialog");
  await expect(page.getByRole("menu")).toBeHidden();
  await expectAccessible(dialog);
  await dialog.getByLabel("Name").fill("My switches");
  // By the buttons, as without a mouse: the last panel goes, and the second comes first.
  const rows = dialog.getByRole("table", { name: "Panels of the view" }).locator("tbody tr");
  const n = await rows.count();
  await dialog.getByRole("button", { name: `Remove panel ${String(n)}` }).click();
  const second = await dialog.getByLabel("Title of panel 2").inputValue();
  await dialog.getByRole("button", { name: "Move panel 2 up" }).click();
  await expect(dialog.getByLabel("Title of panel 1")).toHaveValue(second);
  await dialog.getByLabel("Title of panel 1").fill("First of all");
  await dialog.getByRole("radiogroup", { name: "Width of panel 1" }).getByText("full").click();
  await dialog.getByRole("button", { name: "Save view" }).click();

  await expect(page).toHaveURL(/view=my-switches/);
  const section = page.getByRole("region", { name: "My switches" });
  await expect(section.getByRole("heading", { level: 3 })).toHaveCount(n - 1);
  await expect(section.getByRole("heading", { level: 3 }).first()).toHaveText("First of all");
  const [wide, half] = [section.locator(".host-panel-slot").first(), section.locator(".host-panel-slot").nth(1)];
  expect((await wide.boundingBox())?.width).toBeGreaterThan(((await half.boundingBox())?.width ?? 0) * 1.5);

  // Two views, one below another, are a link too.
  await page.getByRole("button", { name: "View: My switches" }).click();
  await page.getByRole("menuitem", { name: "Linux classic" }).click({ modifiers: ["Control"] });
  await expect(page).toHaveURL(/view=my-switches&view=linux-classic/);
  await page.reload();
  await expect(page.getByRole("region", { name: "Linux classic" })).toBeVisible();
  await expect(section).toBeVisible();

  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Explore" }).click();
  await page.getByRole("navigation", { name: "Explore" }).getByRole("link", { name: "Views" }).click();
  const row = page.getByRole("row", { name: /My switches/ });
  await expect(row).toContainText("private");
  await expectAccessible(page);
  await row.getByRole("button", { name: "Star My switches" }).click();
  await expect(row.getByRole("button", { name: "Star My switches" })).toHaveAttribute("aria-pressed", "true");
  await expect(page.getByRole("table", { name: "Views" }).locator("tbody tr").first()).toContainText("My switches");
  if (SCREENSHOT_DIR !== null) {
    await showIn(page, "dark");
    await page.screenshot({ path: `${SCREENSHOT_DIR}/views-dark.png` });
    await showIn(page, "light");
  }

  const [download] = await Promise.all([
    page.waitForEvent("download"),
    row.getByRole("link", { name: "Export My switches" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("my-switches.view.json");
  const text = readFileSync(await download.path(), "utf8");
  expect(JSON.parse(text)).toMatchObject({ format: "normstat-view", name: "My switches" });

  await row.getByRole("button", { name: "Delete My switches" }).click();
  await expect(row).toBeHidden();
  // Nothing sent yet.
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(row).toBeVisible();
  await row.getByRole("button", { name: "Delete My switches" }).click();
  await page.getByRole("button", { name: "Close message" }).click();
  await expect(row).toBeHidden();

  const file = page.locator('input[type="file"]');
  await file.setInputFiles({ name: "x.json", mimeType: "application/json", buffer: Buffer.from("{}") });
  await expect(page.getByText("This file is not a view")).toBeVisible();
  await file.setInputFiles({ name: "y.json", mimeType: "application/json", buffer: Buffer.from(text) });
  await page.getByRole("dialog").getByRole("button", { name: "Save view" }).click();
  await expect(row).toBeVisible();
  await row.getByRole("button", { name: "Delete My switches" }).click();
  await expect(row).toBeHidden();
});
