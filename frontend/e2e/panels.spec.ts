import { readFileSync } from "node:fs";
import { dragOver, drawnPanel, expect, expectAccessible, SCHEMES, shareOf, showIn, test } from "./fixture";
import { BASELINE, HOST, INCIDENT, iso, range, WHOLE } from "./story";

const HOST_URL = `/hosts/${HOST}?${range(WHOLE)}`;

interface Answer {
  readonly lines: readonly { readonly window: { readonly n: number; readonly highest: number } }[];
}

test(
  "a legend of many lines is a table of statistics of all samples, a line stands out, and the axis can be fixed",
  { tag: "@matrix" },
  async ({ page, request }) => {
    await page.goto(HOST_URL);
    const cpu = await drawnPanel(page, "mpstat_linux.cpu");
    await cpu.panel.getByRole("button", { name: "Legend with statistics" }).click();
    const table = cpu.panel.getByRole("table", { name: "Lines and their statistics" });
    await expect(table).toHaveAttribute("aria-busy", "false");
    const asked = `host=${HOST}&stat=mpstat_linux&field=usr_pct&instance=all&start=${iso(WHOLE.start)}&end=${iso(WHOLE.end)}`;
    const answer = (await (await request.get(`/api/v1/statistics?${asked}`)).json()) as Answer;
    const usr = table.getByRole("row", { name: /^%usr/ });
    await expect(usr.getByRole("cell").last()).toHaveText(String(answer.lines[0]?.window.highest.toFixed(2)));
    await expect(usr.getByRole("cell").last()).toHaveAttribute("title", /of [\d,]+ samples/);
    await table.getByRole("button", { name: "max" }).click();
    await expect(table.getByRole("columnheader", { name: "max" })).toHaveAttribute("aria-sort", "descending");
    await expect(page).toHaveURL(/look=mpstat_linux\.cpu:table:sort,-highest/);
    const highest = await table.getByRole("row").locator("td:last-child").allTextContents();
    expect(highest.map(Number)).toEqual(highest.map(Number).toSorted((a, b) => b - a));

    // Below the overview, where no band is drawn unasked.
    const { panel } = await drawnPanel(page, "iostat_linux.queue");
    const traces = panel.locator(".scatterlayer > .trace");
    await expect(traces).toHaveCount(2);
    await panel.getByRole("button", { name: /^sdb/ }).hover();
    await expect
      .poll(() => traces.evaluateAll((nodes) => nodes.filter((node) => (node as SVGElement).style.opacity !== "").length))
      .toBe(1);
    await panel.getByRole("button", { name: /^sdb/ }).click({ modifiers: ["ControlOrMeta"] });
    await expect(traces).toHaveCount(1);
    await expect(page).toHaveURL(/look=iostat_linux\.queue:hide,/);

    await panel.getByRole("button", { name: /^Menu of/ }).click();
    await page.getByRole("menuitem", { name: "Axis and lines…" }).click();
    const dialog = page.getByRole("dialog", { name: /^Axis and lines/ });
    await dialog.getByRole("switch", { name: "Logarithmic axis" }).check({ force: true });
    await expect(page).toHaveURL(/look=iostat_linux\.queue:log/);
    await dialog.getByRole("switch", { name: "Logarithmic axis" }).uncheck({ force: true });
    await dialog.getByRole("textbox", { name: /^Highest value/ }).fill("250");
    await expect(page).toHaveURL(/look=iostat_linux\.queue:(hide,[^&]*:)?high,250/);
    await expect(panel.locator(".ytick").filter({ hasText: "200" })).toBeAttached();
    await dialog.getByRole("textbox", { name: /^Lowest value/ }).fill("300");
    await expect(dialog.getByText("The lowest value must be below the highest")).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();

    // The link holds all of it.
    await page.reload();
    await drawnPanel(page, "iostat_linux.queue");
    await expect(traces).toHaveCount(1);
    await expect(panel.getByRole("button", { name: /^sda/ })).toHaveAttribute("aria-pressed", "false");
    await drawnPanel(page, "mpstat_linux.cpu");
    await expect(table.getByRole("columnheader", { name: "max" })).toHaveAttribute("aria-sort", "descending");
    await cpu.panel.getByRole("button", { name: "Legend without statistics" }).click();
    await expect(table).toBeHidden();
    await expect(page).toHaveURL(/look=mpstat_linux\.cpu:sort/);
  },
);

test(
  "a selection shows its lines beside normal and the largest differences, and moves nothing",
  { tag: "@matrix" },
  async ({ page, request }) => {
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

    const more = sheet.getByRole("button", { name: "More actions for the selection" });
    await more.click();
    await page.getByRole("menuitem", { name: /^Numbers of/ }).click();
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

    for (const colorScheme of SCHEMES) {
      await showIn(page, colorScheme);
      await expectAccessible(page);
    }
    await page.reload();
    await more.click();
    await page.getByRole("menuitem", { name: /^Numbers of/ }).click();
    await expect(differences.getByRole("listitem").first()).toContainText("tar");
    await sheet.getByRole("combobox", { name: "Compare the selection with" }).click();
    await page.getByRole("option", { name: "the hour before it" }).click();
    await expect(lines.first()).toContainText("sdb");
    const next = sheet.getByRole("link", { name: "Open" });
    await expect(next).toHaveAttribute("href", /\/comparison\?.*baseline_window=/);
    await next.focus();
    await page.keyboard.press("Escape");
    await expect(sheet).toBeHidden();
  },
);

test("a panel is taken along as a picture and as its lines; a range is typed, or picked from the calendar", async ({ page }) => {
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
  await panel.getByRole("button", { name: /^%usr/ }).click();
  const [csv] = await Promise.all([page.waitForEvent("download"), take("CSV of the lines shown (all samples)")]);
  const [head = ""] = readFileSync(await csv.path(), "utf8").split("\r\n");
  expect(head).toContain("sys_pct[%]");
  expect(head).not.toContain("usr_pct[%]");

  const open = page.getByRole("button", { name: /^Window: / });
  await open.click();
  const typed = page.getByRole("textbox", { name: "Range" });
  await typed.fill("2026-11-20 25-26");
  await expect(page.getByText("“25” is not a time of day")).toBeVisible();
  await expect(page.getByRole("button", { name: "Previous month" })).toBeVisible();
  await typed.fill("2026-11-20 06:59 +10m");
  await typed.press("Enter");
  await expect(page).toHaveURL(/from=2026-11-20T06:59:00Z&to=2026-11-20T07:09:00Z/);
  await open.click();
  await page.getByRole("button", { name: "18 November 2026" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Show", exact: true }).click();
  await expect(page).toHaveURL(/from=2026-11-18T00:00:00Z&to=2026-11-19T00:00:00Z/);
});
