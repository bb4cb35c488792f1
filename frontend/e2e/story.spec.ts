import { readFileSync } from "node:fs";
import { dragOver, drawnPanel, expect, expectAccessible, shareOf, test } from "./fixture";
import { BASELINE, HOST, INCIDENT, iso, range, SCREENSHOT_DIR, WHOLE } from "./story";

/** The way of a person who has a slow host: mark what was normal, mark the trouble, ask what is different, take the samples along. */
test("from samples to a ranked answer", async ({ page }) => {
  await page.goto(`/hosts/${HOST}?${range(WHOLE)}`);
  const { surface } = await drawnPanel(page, "mpstat_linux.cpu");

  const gate: { open?: () => void } = {};
  const held = new Promise<void>((resolve) => {
    gate.open = resolve;
  });
  await page.route(/\/api\/v1\/(batch|statistics|comparison)/, async (route) => {
    await held;
    await route.continue();
  });

  // What was normal: with the marking tool.
  await page.keyboard.press("m");
  await dragOver(page, surface, shareOf(BASELINE.start, WHOLE), shareOf(BASELINE.end, WHOLE));
  const marked = page.getByRole("region", { name: "Selection" });
  // Nobody misses a button because numbers arrive.
  const save = marked.getByRole("button", { name: "Save as baseline…" });
  const place = await save.boundingBox();
  gate.open?.();
  await expect(marked.getByRole("region", { name: /^Largest differences/ })).toHaveAttribute("aria-busy", "false");
  expect(await save.boundingBox()).toEqual(place);
  await save.click();
  await page.getByRole("textbox", { name: "Name" }).fill("Quiet hour before the backup");
  await page.getByLabel("Note").fill("Nobody complained");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(page.locator(".strip").getByText("Quiet hour before the backup")).toBeVisible();
  await expect(page.locator(".strip-piece").first()).toBeVisible();
  // Nothing opaque lies over the samples and the periods.
  const covers = page.locator(".strip .time-surface > .time-surface-area:not(:first-child)");
  for (const cover of await covers.all()) {
    await expect(cover).toHaveCSS("background-color", "rgba(0, 0, 0, 0)");
  }

  // The trouble: with Shift.
  await dragOver(page, surface, shareOf(INCIDENT.start, WHOLE), shareOf(INCIDENT.end, WHOLE), true);
  await expect(marked).toContainText("Selected");
  await marked.getByRole("button", { name: "More actions for the selection" }).click();
  await page.getByRole("menuitem", { name: /^Compare with another baseline…/ }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("radio", { name: "Quiet hour before the backup" })).toBeChecked();
  await dialog.getByRole("button", { name: "Compare" }).click();

  // The answer.
  await expect(page.getByRole("heading", { name: `Changes on ${HOST}` })).toBeVisible();
  await expect(page.locator(".lead")).toContainText("tar");
  await expect(page.locator(".headline-subject")).toContainText("Disk");
  await expect(page.locator(".answer-card[data-resource=disk]")).toContainText("sdb");
  await page.locator(".sides-fold > summary").click();
  await expect(page.getByRole("region", { name: /^Baseline: .*Quiet hour before the backup/ })).toBeVisible();
  // Who took what of the CPUs, opened by keyboard.
  await page.locator(".answer-card[data-resource=cpu]").press("Enter");
  const details = page.getByRole("region", { name: "CPU in detail" });
  await details.getByText("Who took what").click();
  await expect(details.getByRole("table", { name: "Parts of CPU" })).toContainText("Not seen");
  const findings = page.locator(".finding");
  await expect(findings.first()).toContainText("worse");
  await expect(findings.first()).toContainText("x its normal variation");
  await expect(findings.filter({ hasText: "sdb" }).first()).toBeVisible();
  await expect(findings.first().locator(".sketch-during")).not.toHaveAttribute("d", "");
  await findings
    .first()
    .getByRole("button", { name: /^Details of/ })
    .click();
  await expect(findings.first().locator(".sketch-incident")).not.toHaveAttribute("d", "");
  await findings.first().getByRole("button", { name: "Numbers and meaning" }).click();
  await expect(findings.first()).toContainText("p95");
  await findings
    .first()
    .getByRole("button", { name: /^Next questions/ })
    .click();
  await expect(
    findings
      .first()
      .getByRole("button", { name: /^Copy the command/ })
      .first(),
  ).toBeVisible();
  await expectAccessible(page);

  // What came and went is apart.
  const chips = page.getByRole("group", { name: "Which series" });
  await chips.getByRole("button", { name: /^new/ }).click();
  await expect(page.getByRole("table", { name: "New series" })).toContainText("tar");
  await chips.getByRole("button", { name: /^new/ }).click();

  // The filter is in the link.
  await page.getByLabel("Filter").fill("iowait");
  await expect(findings.first()).toContainText("%iowait");
  await expect(page).toHaveURL(/filter=iowait/);
  await page.getByLabel("Filter").fill("");

  // The samples, as they were printed.
  const waiting = page.waitForEvent("download");
  await page.getByRole("link", { name: "CSV of the incident" }).click();
  const file = await (await waiting).path();
  const lines = readFileSync(file, "utf8").split("\r\n");
  expect(lines[0]).toContain("time");
  expect(lines.length).toBeGreaterThan(10_000);

  // And back to the graph at that time, with the finding's own panel on top and the band behind its line.
  await findings.first().getByRole("link").first().click();
  const own = await drawnPanel(page, "custom-0");
  await expect(own.panel.getByText(/band of “Quiet hour before the backup”: p5 to p95/)).toBeVisible();
});

test(
  "the comparison and the host page fit 1280 and 1920 pixels; without inputs there is a form",
  { tag: "@matrix" },
  async ({ page, request }) => {
    const made = await request.post("/api/v1/baselines", {
      headers: { "X-Normstat-Request": "1" },
      data: { name: "Quiet morning", note: "", hosts: [HOST], windows: [{ start: iso(BASELINE.start), end: iso(BASELINE.end) }] },
    });
    const { id } = (await made.json()) as { id: number };
    const incident = `${iso(INCIDENT.start)}/${iso(INCIDENT.end)}`;
    const address = `/comparison?host=${HOST}&baseline=${String(id)}&incident=${incident}&tz=utc`;
    const opened = [
      [address, "comparison", page.locator(".answer-graph .sketch-incident")],
      [
        `/hosts/${HOST}?${range(WHOLE)}&mark=${incident}`,
        "host",
        page.locator('[data-panel="mpstat_linux.cpu"] .js-line').first(),
      ],
    ] as const;
    for (const [url, name, drawn] of opened) {
      await page.goto(url);
      await expect(drawn).not.toHaveAttribute("d", "");
      for (const width of [1920, 1280]) {
        await page.setViewportSize({ width, height: width === 1280 ? 900 : 1080 });
        // Graphs follow the width of the window when they are drawn again.
        await expect
          .poll(() => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), {
            message: `${name} at ${String(width)}: nothing sticks out to the right`,
          })
          .toBe(0);
      }
      if (SCREENSHOT_DIR !== null && name === "comparison") {
        await page.screenshot({ path: `${SCREENSHOT_DIR}/comparison.png` });
      }
    }
    await page.goto("/comparison");
    await expect(page.getByRole("heading", { name: "Compare an incident with a baseline" })).toBeVisible();
    await expectAccessible(page);
  },
);
