import { readFileSync } from "node:fs";
import { dragOver, drawnPanel, expect, expectAccessible, shareOf, test } from "./fixture";
import { BASELINE, HOST, INCIDENT, iso, range, WHOLE } from "./story";

const HOST_URL = `/hosts/${HOST}?${range(WHOLE)}`;
const MARK = `mark=${iso(INCIDENT.start)}/${iso(INCIDENT.end)}`;

interface Answer {
  readonly lines: readonly { readonly window: { readonly n: number; readonly highest: number } }[];
}

test("a legend of many lines is a table of statistics of all samples: sorted, remembered, in the link", async ({
  page,
  request,
}) => {
  await page.goto(HOST_URL);
  const { panel } = await drawnPanel(page, "mpstat_linux.cpu");
  const table = panel.getByRole("table", { name: "Lines and their statistics" });
  await expect(table).toHaveAttribute("aria-busy", "false");
  const asked = `host=${HOST}&stat=mpstat_linux&field=usr_pct&instance=all&start=${iso(WHOLE.start)}&end=${iso(WHOLE.end)}`;
  const answer = (await (await request.get(`/api/v1/statistics?${asked}`)).json()) as Answer;
  const usr = table.getByRole("row", { name: /^%usr/ });
  await expect(usr.getByRole("cell").last()).toHaveText(String(answer.lines[0]?.window.highest.toFixed(2)));
  await expect(usr.getByRole("cell").last()).toHaveAttribute("title", /of [\d,]+ samples/);

  await table.getByRole("button", { name: "max" }).click();
  await expect(table.getByRole("columnheader", { name: "max" })).toHaveAttribute("aria-sort", "descending");
  await expect(page).toHaveURL(/look=mpstat_linux\.cpu:sort,-highest/);
  const highest = await table.getByRole("row").locator("td:last-child").allTextContents();
  expect(highest.map(Number)).toEqual(highest.map(Number).toSorted((a, b) => b - a));
  await page.reload();
  await drawnPanel(page, "mpstat_linux.cpu");
  await expect(table.getByRole("columnheader", { name: "max" })).toHaveAttribute("aria-sort", "descending");
  await panel.getByRole("button", { name: "Legend without statistics" }).click();
  await expect(table).toBeHidden();
  await expect(page).toHaveURL(/look=mpstat_linux\.cpu:compact:sort/);
  await expectAccessible(page);
});

test("a line stands out under the pointer; Ctrl-click leaves only it, also in the link", async ({ page }) => {
  await page.goto(HOST_URL);
  const { panel } = await drawnPanel(page, "iostat_linux.util");
  const traces = panel.locator(".scatterlayer > .trace");
  await expect(traces).toHaveCount(2);
  await panel.getByRole("button", { name: /^sdb/ }).hover();
  await expect
    .poll(() => traces.evaluateAll((nodes) => nodes.filter((node) => (node as SVGElement).style.opacity !== "").length))
    .toBe(1);
  await panel.getByRole("button", { name: /^sdb/ }).click({ modifiers: ["ControlOrMeta"] });
  await expect(traces).toHaveCount(1);
  await expect(page).toHaveURL(/look=iostat_linux\.util:hide,/);
  await page.reload();
  await drawnPanel(page, "iostat_linux.util");
  await expect(traces).toHaveCount(1);
  await expect(panel.getByRole("button", { name: /^sda/ })).toHaveAttribute("aria-pressed", "false");
});

test("a selection shows its lines beside normal and the largest differences, and moves nothing", async ({ page, request }) => {
  const made = await request.post("/api/v1/baselines", {
    headers: { "X-Normstat-Request": "1" },
    data: {
      name: "Before the backup",
      note: "",
      hosts: [HOST],
      windows: [{ start: iso(BASELINE.start), end: iso(BASELINE.end) }],
    },
  });
  const { id } = (await made.json()) as { id: number };
  await page.goto(`${HOST_URL}&band=${String(id)}`);
  const { surface } = await drawnPanel(page, "iostat_linux.util");
  await surface.scrollIntoViewIfNeeded();
  const before = await surface.boundingBox();
  await dragOver(page, surface, shareOf(INCIDENT.start, WHOLE), shareOf(INCIDENT.end, WHOLE), true);
  const sheet = page.getByRole("region", { name: "Selection" });
  await expect(sheet).toBeVisible();
  expect((await surface.boundingBox())?.y, "the graph stays where it is").toBe(before?.y);
  await expect(page).toHaveURL(/of=iostat_linux\.util/);

  const table = sheet.getByRole("table", { name: /^Statistics of/ });
  const lines = table.locator("tbody");
  await expect(lines.first()).toContainText("sdb");
  await expect(lines.first()).toContainText(/\+\d+ points/);
  await expect(lines.first()).toHaveAttribute("data-tone", "worse");
  await expect(lines.first().getByRole("row")).toHaveCount(2);
  const differences = sheet.getByRole("region", { name: `Largest differences on ${HOST}` });
  await expect(differences.getByRole("listitem").first()).toContainText("tar");
  expect(await differences.getByRole("listitem").count()).toBeLessThanOrEqual(3);
  // The sheet does not cover the graph that was dragged over.
  const [of, over] = [await surface.boundingBox(), await sheet.boundingBox()];
  const isApart = of !== null && over !== null && (over.y >= of.y + of.height || over.y + over.height <= of.y);
  expect(isApart).toBe(true);

  await page.reload();
  await expect(differences.getByRole("listitem").first()).toContainText("tar");
  await sheet.getByRole("combobox", { name: "Compare the selection with" }).click();
  await page.getByRole("option", { name: "the hour before it" }).click();
  await expect(lines.first()).toContainText("sdb");
  await differences.getByRole("link", { name: /what to ask next/ }).click();
  await expect(page).toHaveURL(/\/comparison\?.*baseline_window=/);
});

test("a selection is accessible in light and dark, and Escape clears it", async ({ page }) => {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto(`${HOST_URL}&${MARK}&of=mpstat_linux.cpu`);
    await drawnPanel(page, "mpstat_linux.cpu");
    await expect(page.getByRole("table", { name: /^Statistics of/ })).toBeVisible();
    await expectAccessible(page);
  }
  await page.keyboard.press("Escape");
  await expect(page.getByRole("region", { name: "Selection" })).toBeHidden();
});

test("a panel is taken along: its picture, its lines and its link", async ({ page }) => {
  await page.goto(HOST_URL);
  const { panel } = await drawnPanel(page, "mpstat_linux.cpu");
  const take = async (name: string) => {
    await panel.getByRole("button", { name: /^Menu of/ }).click();
    await page.getByRole("menuitem", { name }).click();
  };
  const [picture] = await Promise.all([page.waitForEvent("download"), take("SVG picture")]);
  const svg = readFileSync(await picture.path(), "utf8");
  expect(picture.suggestedFilename()).toMatch(/-mpstat_linux\.cpu-\d{8}T\d{6}Z-\d{8}T\d{6}Z\.svg$/);
  for (const shown of [HOST, "p95", "js-line", "Statistics"]) {
    expect(svg).toContain(shown);
  }
  await panel.getByRole("button", { name: "%usr", exact: true }).click();
  const [csv] = await Promise.all([page.waitForEvent("download"), take("CSV of the lines shown (all samples)")]);
  const [head = ""] = readFileSync(await csv.path(), "utf8").split("\r\n");
  expect(head).toContain("sys_pct[%]");
  expect(head).not.toContain("usr_pct[%]");
  await page.goto(`${HOST_URL}&full=mpstat_linux.cpu`);
  await drawnPanel(page, "mpstat_linux.cpu");
  await expect(page.locator("[data-panel]")).toHaveCount(1);
  await page.getByRole("button", { name: "Show all panels (Esc)" }).click();
  await expect(page).not.toHaveURL(/full=/);
});

test("a range is typed, or picked from the calendar", async ({ page }) => {
  await page.goto(`${HOST_URL}&tz=utc`);
  const open = page.getByRole("button", { name: /^Window: / });
  await open.click();
  const typed = page.getByRole("textbox", { name: "Range" });
  await typed.fill("2026-11-20 25-26");
  await expect(page.getByText("“25” is not a time of day")).toBeVisible();
  await expect(page.getByRole("button", { name: "Previous month" })).toBeVisible();
  await expectAccessible(page);
  await typed.fill("2026-11-20 06:59 +10m");
  await typed.press("Enter");
  await expect(page).toHaveURL(/from=2026-11-20T06:59:00Z&to=2026-11-20T07:09:00Z/);
  await open.click();
  await page.getByRole("button", { name: "18 November 2026" }).click();
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await expect(page).toHaveURL(/from=2026-11-18T00:00:00Z&to=2026-11-19T00:00:00Z/);
});

test("the axis can be logarithmic or fixed, and lines can be steps", async ({ page }) => {
  await page.goto(HOST_URL);
  const { panel } = await drawnPanel(page, "iostat_linux.util");
  await panel.getByRole("button", { name: /^Menu of/ }).click();
  await page.getByRole("menuitem", { name: "Axis and lines…" }).click();
  const dialog = page.getByRole("dialog", { name: /^Axis and lines/ });
  await dialog.getByRole("switch", { name: "Logarithmic axis" }).check({ force: true });
  await expect(page).toHaveURL(/look=iostat_linux\.util:log/);
  await dialog.getByRole("switch", { name: "Logarithmic axis" }).uncheck({ force: true });
  await dialog.getByRole("textbox", { name: /^Highest value/ }).fill("250");
  await expect(page).toHaveURL(/look=iostat_linux\.util:high,250/);
  await expect(panel.locator(".ytick").filter({ hasText: "200" })).toBeAttached();
  await dialog.getByRole("textbox", { name: /^Lowest value/ }).fill("300");
  await expect(dialog.getByText("The lowest value must be below the highest")).toBeVisible();
  await dialog.getByRole("button", { name: "Reset" }).click();
  await expect(page).not.toHaveURL(/look=/);
  await expectAccessible(page);
});

test("the nearest line says its value under the pointer", async ({ page }) => {
  await page.goto(HOST_URL);
  const { surface, panel } = await drawnPanel(page, "iostat_linux.util");
  await surface.scrollIntoViewIfNeeded();
  const box = await surface.boundingBox();
  const x = (box?.x ?? 0) + 58 + shareOf((INCIDENT.start + INCIDENT.end) / 2, WHOLE) * ((box?.width ?? 0) - 70);
  await page.mouse.move(x, (box?.y ?? 0) + 24);
  await expect(panel.locator(".nearest-tip")).toContainText(/^(9\d\.\d\d|100\.00) % sdb/);
});
