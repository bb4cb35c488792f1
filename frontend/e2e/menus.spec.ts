import { sendStream, sendVmstat, VMSTAT_HEAD } from "./agent";
import { expect, expectAccessible, test } from "./fixture";

const HOST = "menus1";
const WINDOW = "from=2026-11-22T00:00:00Z&to=2026-11-22T00:01:00Z&tz=utc";

test.beforeAll(async ({ request }) => {
  await sendVmstat(request, HOST, 60);
});

test("open menus keep to the roles of a menu; a panel fills the window with f, in a link too, and Escape leaves", async ({
  page,
}) => {
  await page.goto(`/hosts/${HOST}?${WINDOW}`);
  await expect(page.locator(".panel .legend-entry").first()).toBeVisible();
  const menus = ["View: Overview", /^Menu of /, /^Account|admin/];
  for (const name of menus) {
    await page.getByRole("button", { name }).first().click();
    await expect(page.getByRole("menuitem").first()).toBeFocused();
    await expectAccessible(page.getByRole("menu"));
    await page.keyboard.press("Escape");
    await expect(page.getByRole("menu")).toBeHidden();
  }

  const panel = page.locator('[data-panel="vmstat_linux.memory"]');
  await expect(panel.locator(".legend-entry").first()).toBeVisible();
  const before = (await panel.locator(".time-surface").boundingBox())?.height ?? 0;
  await panel.getByRole("button", { name: /^Menu of / }).focus();
  await page.keyboard.press("f");
  await expect(page).toHaveURL(/full=vmstat_linux\.memory/);
  await expect(page.locator("[data-panel]")).toHaveCount(1);
  await expect.poll(async () => (await panel.locator(".time-surface").boundingBox())?.height ?? 0).toBeGreaterThan(before + 50);
  await expect(page.getByRole("navigation", { name: "Pages" })).toBeHidden();
  await page.reload();
  await expect(page.locator("[data-panel]")).toHaveCount(1);
  await page.keyboard.press("Escape");
  await expect(page).not.toHaveURL(/full=/);
  await expect(page.getByRole("navigation", { name: "Pages" })).toBeVisible();
  await page.goto(`/hosts/${HOST}?${WINDOW}&full=iostat_linux.gone`);
  await expect(page.getByText(`${HOST} has no panel iostat_linux.gone`)).toBeVisible();
});

test(
  "a panel is resized by keys, added to a new view with its size, and the view is found with Ctrl-K",
  { tag: "@matrix" },
  async ({ page }) => {
    await page.goto(`/hosts/${HOST}?${WINDOW}`);
    const panel = page.locator('[data-panel="vmstat_linux.memory"]');
    await expect(panel.locator(".legend-entry").first()).toBeVisible();
    const title = (await panel.getByRole("heading").textContent()) ?? "";
    const grip = page.getByRole("separator", { name: `Height of ${title}`, exact: true });
    await grip.press("ArrowDown");
    await expect(page).toHaveURL(/height(,|%2C)206/);
    await grip.press("ArrowDown");
    await expect(grip).toHaveAttribute("aria-valuenow", "226");
    await panel.getByRole("button", { name: `Menu of ${title}` }).click();
    await page.getByRole("menuitem", { name: "Add to a view" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("combobox", { name: "View" }).click();
    await page.getByRole("option", { name: "A new view" }).click();
    await dialog.getByLabel("Name").fill("Night watch");
    await expectAccessible(dialog);
    await dialog.getByRole("button", { name: "Add panel" }).click();
    await dialog.getByRole("button", { name: "Close", exact: true }).last().click();

    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search" }).fill("night wat");
    await page.getByRole("option", { name: /Night watch/ }).click();
    await expect(page).toHaveURL(/view=night-watch/);
    const shown = page.getByRole("region", { name: "Night watch" }).locator(".panel .time-surface");
    await expect.poll(async () => Math.round((await shown.boundingBox())?.height ?? 0)).toBe(226);
  },
);

test("a tag is given to selected hosts, found, and taken away", { tag: "@matrix" }, async ({ page }) => {
  await page.goto("/hosts?recorded=1");
  const row = page.getByRole("row").filter({ hasText: HOST });
  await row.getByRole("checkbox").click();
  await page.getByRole("region", { name: "Selected hosts" }).getByRole("button", { name: "Tag…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Add" }).fill("night");
  await page.keyboard.press("Enter");
  await expectAccessible(dialog);
  await dialog.getByRole("button", { name: "Save" }).click();
  await row.getByRole("button", { name: "night" }).click();
  await expect(page).toHaveURL(/filter=tag(:|%3A)night/);
  await expect(page.locator(".fleet-row")).toHaveCount(1);

  await page.goto("/views");
  await page.getByRole("button", { name: /^Search/ }).click();
  await page.getByRole("combobox", { name: "Search" }).fill("night");
  await page.getByRole("option", { name: /night.*1 host/ }).click();
  await expect(page).toHaveURL(/filter=tag(:|%3A)night/);
  await page.getByRole("link", { name: HOST, exact: true }).click();
  await page.getByRole("button", { name: "Change tags" }).click();
  await page.getByRole("dialog").getByRole("checkbox", { name: "night" }).check();
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("group", { name: `Tags of ${HOST}` }).getByRole("button")).toHaveCount(0);
});

test("a panel's menu asks what moves with a line: user time moves with context switches", async ({ page, request }) => {
  const host = "related1";
  const rows = Array.from({ length: 120 }, (_, at) => {
    // Up and down without a rhythm; idle time is the rest.
    const us = 5 + ((at * at * 7) % 61);
    const time = `00:0${String(Math.floor(at / 60))}:${String(at % 60).padStart(2, "0")}`;
    return ` 2  0      0 402312 267968 846360    0    0  1444  4554  647 ${String(1000 + 20 * us)} ${String(us)} 8 ${String(90 - us)}  1  1 2026-11-22 ${time}`;
  });
  const text = `${[...VMSTAT_HEAD, ...rows].join("\n")}\n`;
  await sendStream(request, { host, spec: "vmstat_linux", key: `vmstat.${host}.1`, command: "vmstat -n -t 1", text });
  await page.goto(`/hosts/${host}?${WINDOW}`);
  const panel = page.locator('[data-panel="vmstat_linux.switches"]');
  await panel.scrollIntoViewIfNeeded();
  await expect(panel.locator(".legend-entry").first()).toBeVisible();
  await panel.getByRole("button", { name: /^Menu of / }).click();
  await page.getByRole("menuitem", { name: "What moves with this?" }).click();
  const dialog = page.getByRole("dialog", { name: "What moves with this?" });
  await expect(dialog).toContainText("2026-11-22 00:00:00 to 2026-11-22 00:01:00");
  const table = dialog.getByRole("table", { name: "Series that move with it" });
  await expect(table.getByRole("row").filter({ hasText: "vmstat cpu us" })).toContainText("moves with it, within 1 s");
  await expect(table.getByRole("row").filter({ hasText: "vmstat cpu id" })).toContainText("moves the other way, within 1 s");
  await expectAccessible(dialog);
  await table.getByRole("link", { name: "vmstat cpu us" }).click();
  await expect(page).toHaveURL(/cpu_us/);
});
