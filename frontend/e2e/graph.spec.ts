import { readFile, writeFile } from "node:fs/promises";
import type { APIRequestContext } from "@playwright/test";
import { sendStream, VMSTAT_HEAD } from "./agent";
import { drawnPanel, expect, expectAccessible, showIn, test } from "./fixture";
import { HOST, INCIDENT, iso, range, SCREENSHOT_DIR, WHOLE } from "./story";

const OTHER = "graph2";
const SPEC = "vmstat_linux";
const SECONDS = 600;
/** Ten minutes of the replay, in which both hosts have samples. */
const SHARED = { start: INCIDENT.start - 60_000, end: INCIDENT.start + 60_000 };

/** vmstat of a second host, every second, with 42 % of CPU time in programs. */
async function fillOther(request: APIRequestContext): Promise<void> {
  const rows = Array.from({ length: SECONDS }, (_, index) => {
    const at = iso(SHARED.start + 1000 * (index - 1))
      .replace("T", " ")
      .replace("Z", "");
    return ` 1 0 0 812000 10244 409600 0 0 5 12 250 400 42 3 55 0 0 ${at}`;
  });
  const text = `${[...VMSTAT_HEAD, ...rows].join("\n")}\n`;
  await sendStream(request, { host: OTHER, spec: SPEC, key: "vmstat.graph.1", command: "vmstat -n -t 1", text });
}

const link = (more: string): string => `/graph?v=1&hosts=${HOST},${OTHER}&${range(SHARED)}${more}`;

test.beforeAll(async ({ request }) => {
  await fillOther(request);
});

test("hosts of a link are drawn with where each is read; metric, small graphs and heatmap are chosen", async ({ page }) => {
  await page.goto(link(""));
  await expect(page.getByRole("heading", { name: "CPU time of programs" })).toBeVisible();
  await expect(page.locator(".js-line")).toHaveCount(2);
  const rows = page.getByRole("table", { name: "Lines of the graph" }).getByRole("row");
  // The worst comes first.
  await expect(rows.nth(1)).toContainText(OTHER);
  await expect(rows.nth(1)).toContainText("42.0 %42 %42 %42 %");
  await expect(rows.nth(1)).toContainText("vmstat_linux.cpu_us");
  await expect(rows.nth(2)).toContainText(HOST);
  await expectAccessible(page);
  await showIn(page, "dark");
  await expectAccessible(page);

  await page.getByText("Small graphs", { exact: true }).click();
  await expect(page).toHaveURL(/show=small/);
  await expect(page.locator("figure .js-line")).toHaveCount(2);
  const tops = await page.locator("figure .ytick text").allTextContents();
  expect(tops.slice(0, tops.length / 2)).toEqual(tops.slice(tops.length / 2));
  await page.getByText("Heatmap", { exact: true }).click();
  await expect(page.getByRole("img", { name: /Heatmap of CPU time of programs: 2 rows/ })).toBeVisible();
  await expect(page.locator(".ytick text").filter({ hasText: OTHER })).toBeVisible();

  const metric = page.getByRole("combobox", { name: "Metrics", exact: true });
  await metric.click();
  await metric.fill("free memory");
  await page
    .getByRole("option", { name: /^free memory/ })
    .first()
    .click();
  await expect(page).toHaveURL(/field=mem\.free/);
  // It is drawn beside the first, under one link.
  await expect(page.getByRole("heading", { name: /free memory/ })).toBeVisible();
  await expect(page).toHaveURL(/field=cpu\.usr&field=mem\.free/);
  await page.getByRole("combobox", { name: "Metrics of a view" }).click();
  await page.getByRole("option", { name: "Linux classic" }).click();
  await expect(page).toHaveURL(/field=vmstat_linux\.procs_r/);
  await expect(page.getByRole("heading", { name: "procs r" })).toBeVisible();
});

test(
  "the sum of hosts says where they are missing, hosts that cannot be drawn are named, and none is said so",
  { tag: "@matrix" },
  async ({ page }) => {
    const early = { start: SHARED.start - 120_000, end: SHARED.start + 120_000 };
    await page.goto(`/graph?v=1&hosts=${HOST},${OTHER}&field=cpu.usr&over=sum&${range(early)}`);
    await expect(
      page.getByText(/In \d+ of \d+ steps some hosts have no samples and only the others are counted \(at least 1 of 2\)/),
    ).toBeVisible();
    await expect(page.getByText(/in steps of 2 s/)).toBeVisible();
    await expect(page.getByRole("table", { name: "Lines of the graph" })).toContainText("sum of all hosts");

    await page.goto(`/graph?v=1&hosts=${HOST},gone,${OTHER}&field=mpstat_linux.usr_pct&${range(WHOLE)}`);
    await expect(page.getByText("2 of 3 not drawn")).toBeVisible();
    await expect(page.getByText("There is no host 'gone': it was deleted, renamed, or never sent data")).toBeVisible();
    await expect(page.getByText(new RegExp(`${OTHER} never sent`))).toBeVisible();
    await expect(page.locator(".js-line")).toHaveCount(1);

    await page.goto("/graph");
    await expect(page.locator(".js-line").first()).toBeVisible();
    const hosts = page.getByRole("combobox", { name: "Hosts", exact: true });
    await expect(async () => {
      await hosts.press("Backspace");
      await expect(page.getByText("No hosts chosen")).toBeVisible({ timeout: 100 });
    }).toPass();
    await page.goto("/graph?v=1&hosts=gone&top=many");
    await expect(page.getByText("There is no host gone")).toBeVisible();
    await expect(page.getByText("Parts of this link were ignored")).toBeVisible();
    await expect(page.getByText("top=many")).toBeVisible();
  },
);

test("runs of one host are beside each other by elapsed time", { tag: "@matrix" }, async ({ page }) => {
  const runs = [INCIDENT.start, INCIDENT.start - 1_800_000].map((at) => `run=${HOST}@${iso(at)}`).join("&");
  await page.goto(`/graph?v=1&${runs}&for=5m&field=blocked&tz=utc`);
  await expect(page.locator(".js-line")).toHaveCount(2);
  await expect(page.locator(".xtick text").first()).toHaveText("0:00:00");
  const rows = page.getByRole("table", { name: "Lines of the graph" }).getByRole("row");
  // The incident is worse than half an hour before.
  await expect(rows.nth(1)).toContainText(`${HOST}, from ${iso(INCIDENT.start).replace("T", " ").replace("Z", "")}`);
  await page.getByRole("button", { name: "Remove run 2" }).click();
  await expect(page.locator(".js-line")).toHaveCount(1);
  await page.getByText("By clock", { exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`hosts=${HOST}`));
});

test("the worst few, and what is drawn as CSV and as a picture", { tag: "@matrix" }, async ({ page }) => {
  await page.goto(link("&field=cpu.usr&top=1"));
  await expect(page.locator(".js-line")).toHaveCount(1);
  await expect(page.getByText(/1 line not drawn/)).toBeVisible();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "CSV of the points drawn" }).click();
  const text = await readFile(await (await download).path(), "utf8");
  const [head, first] = text.split("\r\n");
  expect(head).toBe("time,host,instance,column,value,unit,n_hosts");
  expect(first).toBe(`${iso(SHARED.start)},${OTHER},,vmstat_linux.cpu_us,42,%,`);

  for (const kind of ["", "&show=small", "&show=heatmap"]) {
    await page.goto(link(`&field=cpu.usr&tz=utc${kind}`));
    await page.getByRole("button", { name: "Export" }).click();
    const [picture] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "SVG picture" }).click(),
    ]);
    expect(picture.suggestedFilename()).toMatch(/^hosts-cpu\.usr-\d{8}T\d{6}Z-\d{8}T\d{6}Z\.svg$/);
    const svg = await readFile(await picture.path(), "utf8");
    expect(svg).toContain(OTHER);
    expect(svg.match(/class="main-svg/g)?.length ?? 0).toBeGreaterThanOrEqual(kind === "&show=small" ? 2 : 1);
    if (SCREENSHOT_DIR !== null) {
      await writeFile(`${SCREENSHOT_DIR}/graph-picture${kind.replace("&show=", "-")}.svg`, svg);
    }
  }
});

test(
  "another host is drawn dashed behind a panel, and a panel leads to the graph of several hosts",
  { tag: "@matrix" },
  async ({ page }) => {
    await page.goto(`/hosts/${HOST}?${range(SHARED)}`);
    const { panel } = await drawnPanel(page, "vmstat_linux.run_queue");
    await page.getByRole("combobox", { name: "Overlay" }).click();
    await page.getByRole("option", { name: `Overlay: ${OTHER}` }).click();
    await expect(page).toHaveURL(new RegExp(`over=host:${OTHER}`));
    await expect(panel.getByRole("button", { name: new RegExp(`^r, ${OTHER}`) })).toBeVisible();
    await expect(panel.getByText(`dashed: ${OTHER}`)).toBeVisible();
    const missing = page.locator('[data-panel="iostat_linux.util"]');
    await missing.scrollIntoViewIfNeeded();
    await expect(missing.getByText(`no data of ${OTHER}: it never sent iostat_linux`)).toBeVisible();
    // There was no yesterday: the panel says so.
    await page.goto(`/hosts/${HOST}?over=yesterday&${range(SHARED)}`);
    const again = await drawnPanel(page, "vmstat_linux.run_queue");
    await expect(again.panel.getByText("no samples of this panel yesterday")).toBeVisible();
    // Areas would hide what each line is compared with.
    await page.goto(`/hosts/${HOST}?over=host:${HOST}&${range(SHARED)}`);
    const stacked = await drawnPanel(page, "mpstat_linux.cpu");
    await expect(stacked.panel.getByText("Lines instead of areas, so that each can be compared.")).toBeVisible();
    const { panel: util } = await drawnPanel(page, "iostat_linux.util");
    await util.getByRole("button", { name: /^Menu of/ }).click();
    await page.getByRole("menuitem", { name: "Several hosts…" }).click();
    await expect(page).toHaveURL(
      new RegExp(`/graph\\?v=1&hosts=${HOST}&field=iostat_linux\\.util_pct.*from=${iso(SHARED.start)}`),
    );
    await expect(page.locator(".js-line").first()).toBeAttached();
  },
);
