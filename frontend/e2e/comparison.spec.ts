import type { APIRequestContext } from "@playwright/test";
import { expect, expectAccessible, test } from "./fixture";
import { BASELINE, HOST, INCIDENT, iso } from "./story";

const OURS = { "X-Normstat-Request": "1" };

function windowText({ start, end }: { readonly start: number; readonly end: number }): string {
  return `${iso(start)}/${iso(end)}`;
}

async function makeBaseline(request: APIRequestContext, name: string): Promise<number> {
  const windows = [{ start: iso(BASELINE.start), end: iso(BASELINE.end) }];
  const made = await request.post("/api/v1/baselines", { headers: OURS, data: { name, note: "", hosts: [HOST], windows } });
  expect(made.status(), await made.text()).toBe(201);
  return ((await made.json()) as { id: number }).id;
}

test(
  "a muted series is no finding any more, but counted and listed, until it is unmuted",
  { tag: "@matrix" },
  async ({ page, request }) => {
    const id = await makeBaseline(request, "Before muting");
    await page.goto(`/comparison?host=${HOST}&baseline=${String(id)}&incident=${windowText(INCIDENT)}&tz=utc`);
    const first = page.locator(".finding").first();
    const name = (await first.getAttribute("data-finding")) ?? "";
    await first.getByRole("button", { name: /^Details of/ }).click();
    await first.getByRole("button", { name: "Mute…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog
      .getByRole("radio", { name: /, on web1$/ })
      .last()
      .click();
    await dialog.getByLabel("Reason").fill("the backup is like that");
    await dialog.getByRole("button", { name: "Mute", exact: true }).click();
    await expect(dialog).toBeHidden();
    await expect(page.locator(`[data-finding="${name}"]`)).toHaveCount(0);
    const chips = page.getByRole("group", { name: "Which series" });
    await chips.getByRole("button", { name: /^muted [1-9]/ }).click();
    const rules = page.getByRole("table", { name: "Muted series", exact: true });
    await expect(rules).toContainText("the backup is like that");
    await expect(page.getByRole("table", { name: "Muted series that would be findings" })).toBeVisible();
    await rules
      .getByRole("button", { name: /^Unmute/ })
      .first()
      .click();
    await page.getByRole("button", { name: "Close message" }).click();
    await chips.getByRole("button", { name: "muted 0" }).click();
    await expect(chips.getByRole("button", { name: /^muted/ })).toHaveCount(0);
    await expect(page.locator(`[data-finding="${name}"]`).first()).toBeVisible();
  },
);

test("a saved comparison has its result, note and report, and can be run again", async ({ page, request }) => {
  const id = await makeBaseline(request, "Before saving");
  await page.goto(`/comparison?host=${HOST}&baseline=${String(id)}&incident=${windowText(INCIDENT)}&tz=utc`);
  await page.getByRole("button", { name: "Save…" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("The backup of Saturday");
  await page.getByLabel("Note").fill("It ran into the morning.");
  await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
  await expect(page).toHaveURL(/saved=\d+/);
  await expect(page.getByRole("region", { name: "Saved comparison" })).toContainText("It ran into the morning.");
  await expect(page.locator(".answer-card").first()).toBeVisible();
  const more = page.getByRole("button", { name: "More actions" });
  await more.click();
  const report = await request.get(
    (await page.getByRole("menuitem", { name: "Report", exact: true }).getAttribute("href")) ?? "",
  );
  expect(report.status()).toBe(200);
  expect(await report.text()).toContain("It ran into the morning.");
  await page.getByRole("menuitem", { name: "Compare again" }).click();
  await expect(page).toHaveURL(new RegExp(`baseline=${String(id)}`));
  await more.click();
  await page.getByRole("menuitem", { name: "Open saved…" }).click();
  const saved = page.getByRole("table", { name: "Incidents by time" });
  await saved.getByRole("button", { name: "Delete The backup of Saturday" }).click();
  await expect(saved.getByText("The backup of Saturday")).toBeHidden();
});

test(
  "that one side has no samples is said, and something else is chosen in one dialog, filled in already",
  { tag: "@matrix" },
  async ({ page }) => {
    await page.goto(`/comparison?host=${HOST}&ago=week&incident=${windowText(INCIDENT)}&tz=utc`);
    await expect(page.getByText("One of the windows has no samples")).toBeVisible();
    await page.getByRole("button", { name: "Change comparison…" }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog.getByRole("radio", { name: "the same hours a week ago" })).toBeChecked();
    await expectAccessible(page);
    await dialog.getByRole("radio", { name: "another window" }).click();
    await dialog.getByRole("button", { name: "just before" }).click();
    await dialog.getByRole("button", { name: /divide every series/ }).click();
    await dialog.getByRole("combobox", { name: "Divide by" }).click();
    await page.getByRole("option", { name: /^system cs/ }).click();
    await dialog.getByRole("button", { name: "Compare", exact: true }).click();
    await expect(page).toHaveURL(/baseline_window=.*divisor=vmstat_linux/);
    await page.locator(".sides-fold > summary").click();
    await expect(page.getByText("Every series is divided by")).toBeVisible();
  },
);
