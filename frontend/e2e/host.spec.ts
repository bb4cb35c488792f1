import { dragOver, drawnPanel, expect, expectAccessible, shareOf, test } from "./fixture";
import { BASELINE, HOST, INCIDENT, iso, LIVE_HOST, range, WHOLE } from "./story";

const HOST_URL = `/hosts/${HOST}?${range(WHOLE)}`;

test("one crosshair for all graphs, with the values of each line", async ({ page }) => {
  await page.goto(HOST_URL);
  const busy = await drawnPanel(page, "iostat_linux.util");
  const value = busy.panel.getByRole("button", { name: /^sdb/ }).locator(".legend-value");
  const box = await busy.surface.boundingBox();
  const x = (share: number): number => (box?.x ?? 0) + 58 + share * ((box?.width ?? 0) - 70);
  const y = (box?.y ?? 0) + 60;
  await page.mouse.move(x(shareOf((INCIDENT.start + INCIDENT.end) / 2, WHOLE)), y);
  await expect(value).toHaveText(/^(9\d\.\d\d|100\.00)$/);
  expect(await page.locator(".time-cross").count()).toBeGreaterThan(2);
  await page.mouse.move(x(shareOf(INCIDENT.start - 600_000, WHOLE)), y);
  await expect(value).toHaveText(/^\d\.\d\d$/);
});

test("a drag zooms, the browser's back undoes it, a double-click zooms out", async ({ page }) => {
  await page.goto(HOST_URL);
  const { surface } = await drawnPanel(page, "mpstat_linux.cpu");
  await dragOver(page, surface, shareOf(INCIDENT.start, WHOLE), shareOf(INCIDENT.end, WHOLE));
  await expect(page).not.toHaveURL(new RegExp(iso(WHOLE.start)));
  const zoomed = new URL(page.url()).searchParams;
  expect(Math.abs(Date.parse(zoomed.get("from") ?? "") - INCIDENT.start)).toBeLessThan(30_000);
  expect(Math.abs(Date.parse(zoomed.get("to") ?? "") - INCIDENT.end)).toBeLessThan(30_000);
  await page.goBack();
  await expect(page).toHaveURL(new RegExp(iso(WHOLE.start)));
  await surface.dblclick({ position: { x: 200, y: 80 } });
  await expect(page).not.toHaveURL(new RegExp(iso(WHOLE.start)));
  const wide = new URL(page.url()).searchParams;
  expect(Date.parse(wide.get("to") ?? "") - Date.parse(wide.get("from") ?? "")).toBe(2 * (WHOLE.end - WHOLE.start));
});

test("keys move, zoom, and open the help", async ({ page }) => {
  await page.goto(HOST_URL);
  await drawnPanel(page, "mpstat_linux.cpu");
  await page.keyboard.press("ArrowLeft");
  await expect(page).toHaveURL(new RegExp(`to=${iso((WHOLE.start + WHOLE.end) / 2)}`));
  await page.keyboard.press("u");
  await expect(page).toHaveURL(new RegExp(`to=${iso(WHOLE.end)}`));
  const lengthInUrl = (): number => {
    const { searchParams } = new URL(page.url());
    return Date.parse(searchParams.get("to") ?? "") - Date.parse(searchParams.get("from") ?? "");
  };
  await page.keyboard.press("+");
  await expect.poll(lengthInUrl).toBe((WHOLE.end - WHOLE.start) / 2);
  await page.keyboard.press("-");
  await expect.poll(lengthInUrl).toBe(WHOLE.end - WHOLE.start);
  await page.keyboard.press("m");
  await expect(page.getByRole("button", { name: "Select", exact: true })).toHaveAttribute("aria-pressed", "true");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Select", exact: true })).toHaveAttribute("aria-pressed", "false");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: /Keyboard and mouse/ })).toBeVisible();
});

test("a host whose samples ended opens on the last ones, and says so", async ({ page }) => {
  await page.clock.setFixedTime(new Date(WHOLE.end + 2 * 3_600_000));
  await page.goto(`/hosts/${HOST}`);
  const note = page.getByRole("note").filter({ hasText: /No samples since/ });
  await expect(note).toBeVisible();
  await drawnPanel(page, "mpstat_linux.cpu");
  await note.getByRole("button", { name: "Go live" }).click();
  await expect(page).toHaveURL(/last=15m/);
  await expect(note).toBeHidden();
});

test("a graph states how many samples it draws, and draws all once zoomed in", async ({ page }) => {
  await page.goto(HOST_URL);
  const wide = await drawnPanel(page, "iostat_linux.util");
  await expect(wide.panel.getByText(/raw: [\d,]+ of 7,\d{3} samples, extremes of each pixel/)).toBeVisible();
  await page.goto(`/hosts/${HOST}?${range({ start: INCIDENT.start, end: INCIDENT.start + 60_000 })}`);
  const near = await drawnPanel(page, "iostat_linux.util");
  await expect(near.panel.getByText("raw: all 120 samples")).toBeVisible();
});

test("the band of a baseline is behind the lines, and in the link", async ({ page, request }) => {
  const made = await request.post("/api/v1/baselines", {
    headers: { "X-Normstat-Request": "1" },
    data: {
      name: "Behind the lines",
      note: "",
      hosts: [HOST],
      windows: [{ start: iso(BASELINE.start), end: iso(BASELINE.end) }],
    },
  });
  expect(made.status()).toBe(201);
  await page.goto(HOST_URL);
  const { panel } = await drawnPanel(page, "iostat_linux.util");
  const lines = panel.locator(".js-line");
  const before = await lines.count();
  await page.keyboard.press("g");
  await expect(page).toHaveURL(/band=\d+/);
  await expect(panel.getByText("band of “Behind the lines”: p5 to p95, median")).toBeVisible();
  await expect.poll(() => lines.count()).toBeGreaterThan(before);
  await page.reload();
  await drawnPanel(page, "iostat_linux.util");
  await expect(panel.getByText("band of “Behind the lines”: p5 to p95, median")).toBeVisible();
  await page.keyboard.press("g");
  await expect(page).not.toHaveURL(/band=/);
});

test("legend entries toggle lines; fields are documented", async ({ page }) => {
  await page.goto(HOST_URL);
  const { panel } = await drawnPanel(page, "iostat_linux.util");
  const lines = panel.locator(".js-line");
  const before = await lines.count();
  await panel.getByRole("button", { name: /^sda/ }).click();
  await expect(lines).toHaveCount(before - 1);
  await panel.getByRole("button", { name: "What these fields mean" }).click();
  await expect(page.getByText("%util", { exact: false }).first()).toBeVisible();
  await expect(page.getByText("iostat", { exact: false }).first()).toBeVisible();
});

test("any field can be added as a panel and stays in the link", async ({ page }) => {
  await page.goto(HOST_URL);
  await drawnPanel(page, "mpstat_linux.cpu");
  await page.keyboard.press("a");
  const dialog = page.getByRole("dialog", { name: "Add a panel" });
  await dialog.getByRole("combobox", { name: "Stat" }).click();
  await page.getByRole("option", { name: /\(iostat_linux\)/ }).click();
  await dialog.getByRole("combobox", { name: "Fields" }).click();
  await page.getByRole("option", { name: /^aqu-sz/ }).click();
  await page.keyboard.press("Tab");
  await dialog.getByRole("button", { name: "Add panel" }).click();
  await expect(page).toHaveURL(/panel=iostat_linux\.\w+\.top:5/);
  await drawnPanel(page, "custom-0");
  await page.reload();
  await drawnPanel(page, "custom-0");
});

test("a window without samples says where there are some", async ({ page }) => {
  const late = { start: WHOLE.end + 3_600_000, end: WHOLE.end + 7_200_000 };
  await page.goto(`/hosts/${HOST}?${range(late)}`);
  await expect(page.getByText("no samples in this window").first()).toBeVisible();
  await page
    .getByRole("button", { name: /Show the last samples/ })
    .first()
    .click();
  await drawnPanel(page, "mpstat_linux.cpu");
});

test.describe("when a graph fails", () => {
  test.use({ expectedErrors: /status of 503/ });

  test("its panel says why, with code and request id; the others keep working", async ({ page }) => {
    await page.route(/\/api\/v1\/series\?.*stat=iostat_linux&/, (route) =>
      route.fulfill({
        status: 503,
        json: { error: { code: "database_away", message: "The database does not answer", details: {}, request_id: "r-456" } },
      }),
    );
    await page.goto(HOST_URL);
    await drawnPanel(page, "mpstat_linux.cpu");
    const panel = page.locator('[data-panel="iostat_linux.util"]');
    await panel.scrollIntoViewIfNeeded();
    await expect(panel.getByText("r-456")).toBeVisible();
    await page.unroute(/\/api\/v1\/series\?.*stat=iostat_linux&/);
    await panel.getByRole("button", { name: "Try again" }).click();
    await drawnPanel(page, "iostat_linux.util");
  });
});

test("a link that cannot be read shows what was ignored", async ({ page }) => {
  await page.goto(`${HOST_URL}&colour=red`);
  await expect(page.getByText("Parts of this link were ignored")).toBeVisible();
  await expect(page.getByText("colour=red")).toBeVisible();
});

test("a live page moves by itself, and stops when paused", async ({ page }) => {
  await page.goto(`/hosts/${LIVE_HOST}?last=5m`);
  const { panel } = await drawnPanel(page, "vmstat_linux.run_queue");
  const line = panel.locator(".js-line").first();
  const before = await line.getAttribute("d");
  await expect(line).not.toHaveAttribute("d", before ?? "");
  await page.getByRole("button", { name: "Live", exact: true }).click();
  await expect(page).toHaveURL(/from=.*to=/);
  await expect(page.getByRole("button", { name: "Go live", exact: true })).toBeVisible();
});

test("streams count every line; none is rejected", async ({ page }) => {
  await page.goto(`/hosts/${HOST}?tab=streams`);
  const table = page.getByRole("table", { name: "Streams" });
  await expect(table.getByText("mpstat_linux", { exact: true })).toBeVisible();
  await expect(table.getByText("18,000")).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("tab", { name: /rejected lines/ }).click();
  await expect(page.getByText("No rejected lines")).toBeVisible();
});

test("an unknown host is reported", async ({ browser, baseURL }) => {
  const context = await browser.newContext({
    ...(baseURL === undefined ? {} : { baseURL }),
    storageState: test.info().project.use.storageState as string,
  });
  const page = await context.newPage();
  await page.goto("/hosts/nobody");
  await expect(page.getByText("Host nobody not found")).toBeVisible();
  await context.close();
});

test("the host page is accessible in light and dark", async ({ page }) => {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto(`${HOST_URL}&mark=${iso(INCIDENT.start)}/${iso(INCIDENT.end)}`);
    await drawnPanel(page, "mpstat_linux.cpu");
    await expectAccessible(page);
  }
});
