import { drawnPanel, expect, expectAccessible, SCHEMES, showIn, test } from "./fixture";
import { HOST, range, WHOLE } from "./story";

const HOST_URL = `/hosts/${HOST}?${range(WHOLE)}`;

test(
  "a metric is found by a word and drawn for this host and window; what is not there is said",
  { tag: "@matrix" },
  async ({ page }) => {
    await page.goto(HOST_URL);
    await drawnPanel(page, "mpstat_linux.cpu");
    await page.keyboard.press("Control+k");
    const search = page.getByRole("combobox", { name: "Search" });
    await expect(search).toBeFocused();
    // Typed and confirmed at once: what is opened are the hits of these words, not of those before.
    await page.keyboard.type("iowait");
    await page.keyboard.press("Enter");
    await expect(search).toBeHidden();
    await expect(page).toHaveURL(/explore=\w+\.iowait_pct/);
    await expect(page).toHaveURL(new RegExp(range(WHOLE).split("&")[0] ?? ""));
    const explored = page.getByRole("region", { name: "Explore" });
    await expect(explored.getByText("CPU time idle while a disk request was outstanding.")).toBeVisible();
    await drawnPanel(page, "explore-0");

    // The same is told by others under other names.
    await page.keyboard.press("e");
    await page.getByRole("combobox", { name: "Metric to explore" }).fill("vmstat iowait");
    const wa = page.getByRole("option", { name: /^wa\b/ }).first();
    await expect(wa).toBeVisible();
    await wa.click({ modifiers: ["Shift"] });
    await expect(page).toHaveURL(/explore=vmstat_linux\.cpu_wa/);
    await drawnPanel(page, "explore-1");

    // The link holds it; from it a panel is made.
    await page.reload();
    await drawnPanel(page, "explore-1");
    await explored.getByRole("button", { name: "Add as panel" }).last().click();
    await expect(page).toHaveURL(/panel=vmstat_linux\.cpu_wa/);
    await expect(page).not.toHaveURL(/explore=vmstat_linux/);
    await drawnPanel(page, "custom-0");
    await explored.getByRole("button", { name: "Close", exact: true }).click();
    await expect(explored).toBeHidden();

    // A disk, and what is not there.
    await page.getByRole("button", { name: /^Search/ }).click();
    await search.fill("sdb util");
    await page
      .getByRole("option", { name: /^sdb %util/ })
      .first()
      .click();
    await expect(page).toHaveURL(/explore=iostat_linux\.util_pct\.only:sdb/);
    const disk = await drawnPanel(page, "explore-0");
    await expect(disk.panel.getByRole("button", { name: /^sdb/ })).toBeVisible();

    await page.keyboard.press("Control+k");
    await search.fill("qwertyuiop");
    await expect(page.getByText(/Nothing fits all words/)).toBeVisible();
    await search.fill("mpstat_solaris smtx");
    await expect(page.getByRole("group", { name: `Metrics that ${HOST} does not send` })).toBeVisible();
    await page.keyboard.press("Escape");

    await page.goto(`${HOST_URL}&explore=mpstat_solaris.smtx`);
    await expect(page.getByText(`${HOST} has no samples of mpstat_solaris.smtx`)).toBeVisible();
  },
);

test("a host is found from any page by keyboard alone; the arrows choose, Escape closes", async ({ page }) => {
  await page.goto("/storage");
  await expect(page.getByRole("heading", { name: "Storage" }).first()).toBeVisible();
  await page.keyboard.press("Control+k");
  const search = page.getByRole("combobox", { name: "Search" });
  await page.keyboard.type(HOST);
  const hit = page.getByRole("group", { name: "Hosts" }).getByRole("option", { name: HOST }).first();
  await expect(hit).toBeVisible();
  while ((await hit.getAttribute("aria-selected")) !== "true") {
    await page.keyboard.press("ArrowDown");
  }
  expect(await search.getAttribute("aria-activedescendant")).toBe(await hit.getAttribute("id"));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: HOST, level: 1 })).toBeVisible();

  await page.keyboard.press("Control+k");
  await page.keyboard.press("Escape");
  await expect(search).toBeHidden();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("Baselines");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/baselines/);

  for (const scheme of SCHEMES) {
    await showIn(page, scheme);
    await page.keyboard.press("Control+k");
    await search.fill("cpu");
    await expect(page.getByRole("option").first()).toBeVisible();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
  }
  // On a phone.
  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByRole("button", { name: /^Search/ }).click();
  await search.fill("iowait");
  const first = page.getByRole("option").first();
  await expect(first).toBeVisible();
  const box = await first.boundingBox();
  expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? 999) <= 390).toBe(true);
});
