import type { Page } from "@playwright/test";
import { askAlone, dragOver, drawnPanel, expect, expectAccessible, shareOf, test } from "./fixture";
import { BASELINE, HOST, INCIDENT, iso, LIVE_HOST, range, WHOLE } from "./story";

const HOST_URL = `/hosts/${HOST}?${range(WHOLE)}`;

test("a graph is read under the pointer, its lines are toggled, and a drag zooms", async ({ page }) => {
  await page.goto(HOST_URL);
  const busy = await drawnPanel(page, "iostat_linux.util");
  await expect(busy.panel.getByText(/raw: [\d,]+ of 7,\d{3} samples, extremes of each pixel/)).toBeVisible();
  const value = busy.panel.getByRole("button", { name: /^sdb/ }).locator(".legend-value");
  const box = await busy.surface.boundingBox();
  const x = (share: number): number => (box?.x ?? 0) + 58 + share * ((box?.width ?? 0) - 70);
  const y = (box?.y ?? 0) + 24;
  await page.mouse.move(x(shareOf((INCIDENT.start + INCIDENT.end) / 2, WHOLE)), y);
  await expect(value).toHaveText(/^(9\d\.\d\d|100\.00)$/);
  await expect(busy.panel.locator(".nearest-tip")).toContainText(/^(9\d\.\d\d|100\.00) % sdb/);
  // One crosshair for all graphs.
  expect(await page.locator(".time-cross").count()).toBeGreaterThan(2);
  await page.mouse.move(x(shareOf(INCIDENT.start - 600_000, WHOLE)), y);
  await expect(value).toHaveText(/^\d\.\d\d$/);

  // Below the overview, where no band of what is normal is drawn unasked.
  const moved = await drawnPanel(page, "iostat_linux.throughput");
  const lines = moved.panel.locator(".js-line");
  const before = await lines.count();
  await moved.panel.getByRole("button", { name: /^sda/ }).first().click();
  await expect(lines).toHaveCount(before - 1);
  await busy.panel.getByRole("button", { name: "What these fields mean" }).click();
  await expect(page.getByText("%util", { exact: false }).first()).toBeVisible();
  await page.keyboard.press("Escape");

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

test("keys move, zoom, show a band, add a panel and open the help; the link holds band and panel", async ({ page, request }) => {
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
  const help = page.getByRole("dialog", { name: /Keyboard and mouse/ });
  await expect(help.getByText("Ctrl K")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(help).toBeHidden();

  const { panel } = await drawnPanel(page, "iostat_linux.throughput");
  const lines = panel.locator(".js-line");
  const before = await lines.count();
  await page.keyboard.press("g");
  await expect(page).toHaveURL(/band=\d+/);
  await expect(panel.getByText("band of “Behind the lines”: p5 to p95, median")).toBeVisible();
  await expect.poll(() => lines.count()).toBeGreaterThan(before);

  await page.keyboard.press("a");
  const dialog = page.getByRole("dialog", { name: "Add a panel" });
  await dialog.getByRole("combobox", { name: "Stat" }).click();
  await page.getByRole("option", { name: /\(iostat_linux\)/ }).click();
  await dialog.getByRole("combobox", { name: "Fields" }).click();
  await page.getByRole("option", { name: /^aqu-sz/ }).click();
  await page.keyboard.press("Tab");
  await dialog.getByRole("button", { name: "Add panel" }).click();
  await expect(page).toHaveURL(/panel=iostat_linux\.\w+\.top:5/);
  await page.reload();
  const added = await drawnPanel(page, "custom-0");
  await expect(added.panel.getByText("band of “Behind the lines”: p5 to p95, median")).toBeVisible();
  await page.keyboard.press("g");
  await expect(page).not.toHaveURL(/band=/);
});

test.describe("when a graph fails", () => {
  test.use({ expectedErrors: /status of 503/ });

  test("its panel says why, with code and request id; the others keep working", { tag: "@matrix" }, async ({ page }) => {
    await askAlone(page);
    await page.route(/\/api\/v1\/series\?.*stat=iostat_linux&/, (route) =>
      route.fulfill({
        status: 503,
        json: { error: { code: "database_away", message: "The database does not answer", details: {}, request_id: "r-456" } },
      }),
    );
    await page.goto(`${HOST_URL}&colour=red`);
    await expect(page.getByText("Parts of this link were ignored")).toBeVisible();
    await expect(page.getByText("colour=red")).toBeVisible();
    await drawnPanel(page, "mpstat_linux.cpu");
    const panel = page.locator('[data-panel="iostat_linux.util"]');
    await panel.scrollIntoViewIfNeeded();
    await expect(panel.getByText("r-456")).toBeVisible();
    await page.unroute(/\/api\/v1\/series\?.*stat=iostat_linux&/);
    await panel.getByRole("button", { name: "Try again" }).click();
    await drawnPanel(page, "iostat_linux.util");
  });
});

test(
  "a window without samples leads to the last ones, and a host whose samples ended opens there",
  { tag: "@matrix" },
  async ({ page }) => {
    const late = { start: WHOLE.end + 3_600_000, end: WHOLE.end + 7_200_000 };
    await page.clock.setFixedTime(new Date(late.end));
    await page.goto(`/hosts/${HOST}?${range(late)}`);
    await expect(page.getByText("no samples in this window").first()).toBeVisible();
    await page
      .getByRole("button", { name: /Show the last samples/ })
      .first()
      .click();
    await drawnPanel(page, "mpstat_linux.cpu");
    await page.goto(`/hosts/${HOST}`);
    const note = page.getByRole("note").filter({ hasText: /No samples since/ });
    await expect(note).toBeVisible();
    await note.getByRole("button", { name: "Go live" }).click();
    await expect(page).toHaveURL(/last=15m/);
    await expect(note).toBeHidden();
  },
);

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

test(
  "a window is drawn sample by sample and exported as CSV or as Parquet, for every stat",
  { tag: "@matrix" },
  async ({ page }) => {
    await page.goto(`/hosts/${HOST}?${range({ start: INCIDENT.start, end: INCIDENT.start + 60_000 })}`);
    const { panel } = await drawnPanel(page, "iostat_linux.util");
    await expect(panel.getByText("raw: all 120 samples")).toBeVisible();
    await page.keyboard.press("d");
    const dialog = page.getByRole("dialog", { name: "Export" });
    await expect(dialog.getByRole("link", { name: "CSV of mpstat_linux" })).toBeVisible();
    const download = page.waitForEvent("download");
    await dialog.getByRole("link", { name: "Parquet of mpstat_linux" }).click();
    expect((await download).suggestedFilename()).toMatch(/\.parquet$/);
    await expectAccessible(dialog);
  },
);

test("all CPUs are a heatmap that stays in the link; a zoom moves the drawing at once", async ({ page }) => {
  await page.goto(HOST_URL);
  const { panel, surface } = await drawnPanel(page, "mpstat_linux.cpu");
  await expect(panel.locator(".plot")).toHaveAttribute("data-moved", "false");
  // Without a response, the graph moves its current drawing to the right place.
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/\/api\/v1\/(series\?|batch)/, async (route) => {
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
  await page.unroute(/\/api\/v1\/(series\?|batch)/);

  await panel
    .getByRole("button", { name: /^CPU|^all/ })
    .first()
    .click();
  await page.getByRole("menuitem", { name: "all as a heatmap (one row each)" }).click();
  await expect(page).toHaveURL(/instances=mpstat_linux\.cpu\.heatmap/);
  await expect(panel.locator(".heatmaplayer image")).toBeAttached();
  await expect(panel.getByRole("img", { name: /Heatmap of %\w+: 5 rows/ })).toBeVisible();
  expect(new URL(page.url()).searchParams.get("from")).not.toBe(iso(WHOLE.start));
});

test.describe("a link to what the host does not have", () => {
  // The browser notes that the instance was not found.
  test.use({ expectedErrors: /404/ });

  test("says so calmly, and its panel can be removed", { tag: "@matrix" }, async ({ page }) => {
    const panels = "panel=iostat_solaris.asvc_t_ms.only:sd0&panel=mpstat_linux.usr_pct.only:77";
    await page.goto(`/hosts/${HOST}?v=1&${range(INCIDENT)}&${panels}`);
    const lacking = page.getByText(`${HOST} has not recorded iostat_solaris: asvc_t_ms`);
    await expect(lacking).toBeVisible();
    await expect(page.getByText(`${HOST} has no instance '77' of mpstat_linux`)).toBeVisible();
    await expect(page.getByText("Choose other instances or another window.")).toBeVisible();
    await expect(page.getByRole("alert")).toHaveCount(0);
    await page.getByRole("button", { name: "Remove the panel" }).click();
    await expect(lacking).toHaveCount(0);
    await expect(page).not.toHaveURL(/iostat_solaris/);
    // Before the first samples, nothing can be compared.
    const before = { start: WHOLE.start - 7_200_000, end: WHOLE.start - 3_600_000 };
    await page.goto(`/hosts/${HOST}?v=1&${range(before)}&mark=${iso(before.start)}/${iso(before.end)}&${panels}`);
    await expect(page.getByText(new RegExp(`^${HOST} has no samples in the (baseline|incident)`))).toBeVisible();
    await expect(page.getByRole("alert")).toHaveCount(0);
  });
});

/** Add up the layout shifts of the pages that are opened from now on. */
async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const seen = window as unknown as { shifted: number };
    seen.shifted = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as unknown as readonly { readonly value: number }[]) {
        seen.shifted += entry.value;
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
}

function shiftsOf(page: Page): Promise<number> {
  return page.evaluate(() => (window as unknown as { shifted: number }).shifted);
}

test("nothing moves while a host's graphs arrive with a baseline, an event and what was found", async ({ page, request }) => {
  const headers = { "X-Normstat-Request": "1" };
  const windows = [{ start: iso(BASELINE.start), end: iso(BASELINE.end) }];
  const made = await request.post("/api/v1/baselines", { headers, data: { name: "Still", note: "", hosts: [HOST], windows } });
  const { id } = (await made.json()) as { id: number };
  const event = { text: "nothing moves", at: iso(INCIDENT.start), hosts: [HOST], tags: [] };
  expect((await request.post("/api/v1/events", { headers, data: event })).status()).toBe(201);
  // What stands above and behind the graphs comes after them.
  await askAlone(page);
  await page.route(/\/api\/v1\/(baselines|events|episodes|hosts\/[^/]+\/(scores|coverage|episodes))/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 700));
    await route.continue();
  });
  await watchShifts(page);
  await page.goto(`${HOST_URL}&band=${String(id)}`);
  await drawnPanel(page, "mpstat_linux.cpu");
  await expect(page.locator(".strip").getByText("Still", { exact: true })).toBeVisible();
  await expect(page.getByText(/\d+ events? in this window/)).toBeVisible();
  await expect(page.locator(".panel-notes").first()).toContainText("band of “Still”");
  await page.waitForLoadState("networkidle");
  expect(await shiftsOf(page)).toBeLessThanOrEqual(0.05);
  const head = await page.locator(".shell-header").boundingBox();
  const bar = await page.locator(".host-bar").boundingBox();
  const chrome = (bar?.y ?? 0) + (bar?.height ?? 0) - (head?.height ?? 0);
  expect(chrome, "pixels between the page's header and the graphs").toBeLessThanOrEqual(125);
});

test("a live host opens on its overview: nothing moves, and few presses of Tab lead to the graphs", async ({ page }) => {
  await watchShifts(page);
  await page.goto(`/hosts/${LIVE_HOST}`);
  const overview = page.getByRole("region", { name: "Overview" });
  await expect(overview.locator(".js-line").first()).toBeAttached();
  expect(await overview.locator("[data-panel]").count()).toBeLessThanOrEqual(9);
  // What comes last: how much there is of the window, and all graphs.
  await expect(page.locator(".strip-note").first()).toHaveText(/\w/);
  await expect(overview.locator("[data-panel]:not(:has(.js-line))")).toHaveCount(0);
  expect(await shiftsOf(page)).toBeLessThanOrEqual(0.05);
  let nStops = 0;
  const isInPanel = () => page.evaluate(() => document.activeElement?.closest("[data-panel]") != null);
  while (nStops < 30 && !(await isInPanel())) {
    await page.keyboard.press("Tab");
    nStops += 1;
  }
  expect(nStops - 1, "stops before the first panel").toBeLessThanOrEqual(15);
  // A row of controls is one stop; the arrow keys move inside, and not the window of the page.
  await page.getByRole("button", { name: "Back", exact: true }).focus();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("button", { name: "Forward" })).toBeFocused();
  await expect(page).not.toHaveURL(/from=/);
  await expectAccessible(page);
});
