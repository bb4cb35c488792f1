import type { APIRequestContext, Page } from "@playwright/test";
import { OURS } from "./agent";
import { contentionOf } from "./contention";
import { expect, expectAccessible, SCHEMES, showIn, test } from "./fixture";

const SUN = `sun${String(Date.now() % 1_000_000)}`;
const sendContention = contentionOf(SUN);

/** The row of a host and what was found there; other rules may find something there, too. */
const rowOf = (page: Page, host: string) =>
  page
    .getByRole("table", { name: "Active" })
    .getByRole("row")
    .filter({ has: page.getByRole("link", { name: host, exact: true }) })
    .filter({ hasText: "Kernel mutexes" });

/** Follow what follows when the row is there. */
async function openNow(page: Page, request: APIRequestContext) {
  await sendContention(request);
  await page.goto("/watch");
  const row = rowOf(page, SUN);
  await expect(row).toBeVisible();
  return row;
}

test("what is on is told, acknowledged, muted and marked as an incident, and each can be undone", async ({ page, request }) => {
  const row = await openNow(page, request);
  await expect(row).toContainText("critical");
  await expect(row).toContainText("CPU 1");
  await expect(row).toContainText("smtx 900 /s, usr 10 %, sys 40 %");
  await expect(page.getByRole("link", { name: /^Incidents \d+ needs? attention/ })).toBeVisible();
  const name = `${SUN}: Kernel mutexes`;

  // By keyboard: the note has the focus, Enter sends it.
  await row.getByRole("button", { name: `Acknowledge ${name}` }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("textbox", { name: "Note, such as who looks after it" })).toBeFocused();
  for (const colorScheme of SCHEMES) {
    await showIn(page, colorScheme);
    await expectAccessible(page);
  }
  await page.keyboard.type("anna looks");
  await page.keyboard.press("Enter");
  await expect(row).toContainText("acknowledged by");
  await expect(row).toContainText("Note: anna looks");
  await page.getByRole("status").getByRole("button", { name: "Undo" }).click();
  await expect(row).not.toContainText("acknowledged by");

  await row.getByRole("button", { name: `Mute ${name}` }).click();
  await page.getByRole("menuitem", { name: "For an hour" }).click();
  await expect(row).toContainText("muted until");
  await page.getByRole("status").getByRole("button", { name: "Undo" }).click();
  await expect(row).not.toContainText("muted until");

  await row.getByRole("button", { name: `Mark as incident: ${name}` }).click();
  await expect(row.getByRole("button", { name: /^Mark as incident/ })).toBeHidden();
  const listed = async (): Promise<readonly { readonly host: string | null }[]> =>
    ((await (await request.get("/api/v1/exclusions", { headers: OURS })).json()) as { exclusions: { host: string | null }[] })
      .exclusions;
  expect((await listed()).filter(({ host }) => host === SUN)).toHaveLength(1);
  await page.getByRole("status").getByRole("button", { name: "Undo" }).click();
  await expect(row.getByRole("button", { name: /^Mark as incident/ })).toBeVisible();
  expect((await listed()).filter(({ host }) => host === SUN)).toHaveLength(0);
});

test("it is seen in the fleet, on the host's graphs and in the history", { tag: "@matrix" }, async ({ page, request }) => {
  await openNow(page, request);
  await page.goto(`/hosts?filter=${SUN}`);
  await page.getByRole("link", { name: `critical on ${SUN}:` }).click();
  await expect(page.getByText(`Only ${SUN} is shown.`)).toBeVisible();
  await rowOf(page, SUN).getByRole("link", { name: SUN, exact: true }).click();
  await expect(page.getByRole("region", { name: "Selection" })).toBeVisible();

  const found = page.getByRole("group", { name: "What rules found" }).getByRole("button", { name: /^Kernel mutexes: critical/ });
  await found.click();
  const about = page.getByRole("dialog", { name: "Kernel mutexes" });
  await expect(about).toContainText("smtx 900 /s");
  await expect(about.getByRole("button", { name: "Select this time" })).toBeFocused();
  await expectAccessible(about);
  await page.keyboard.press("Escape");
  await expect(about).toBeHidden();
  await expect(found).toBeFocused();

  await page.goto(`/watch?tab=history&host=${SUN}&rule=mutex`);
  await expect(page).toHaveURL(new RegExp(`/incidents\\?show=alert&host=${SUN}`));
  const listed = page.getByRole("table", { name: "Incidents by time" }).getByRole("row").filter({ hasText: "Kernel mutexes" });
  await expect(listed.first()).toContainText("lasts");
  await page.getByRole("radio", { name: "Reports" }).press("Space");
  await expect(page.getByText("No reports match")).toBeVisible();
  await page.goto("/watch?tab=timeline&span=1h");
  await expect(page.getByRole("img", { name: `Kernel mutexes on ${SUN}: at worst critical` })).toBeVisible();
  await expectAccessible(page);
});

test("a rule is copied, edited, tried on the past and only then enabled", async ({ page, request }) => {
  await sendContention(request);
  await page.goto("/watch?tab=rules");
  await page.getByRole("link", { name: "Kernel mutexes", exact: true }).click();
  await expect(page.getByRole("table", { name: "Hosts" }).getByRole("row").nth(1)).toContainText(/critical|fine/);
  for (const colorScheme of SCHEMES) {
    await showIn(page, colorScheme);
    await expectAccessible(page);
  }
  await page.getByRole("link", { name: "Copy and edit" }).click();
  const text = page.getByRole("textbox", { name: "Rule, in TOML" });
  await expect(text).toHaveValue(/name = "mutex-own"/);
  const before = await text.inputValue();
  await text.fill(before.replace("Kernel mutexes", "Spinning CPUs").replace("value = 500", "value = 800"));
  await page.getByRole("button", { name: "Check" }).click();
  await expect(page.getByRole("status").filter({ hasText: "“Spinning CPUs” is valid." })).toBeVisible();
  await page.getByRole("button", { name: "Save" }).click();

  await expect(page.getByRole("heading", { name: "Spinning CPUs" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Enable" })).toBeDisabled();
  await page.getByRole("combobox", { name: "Hosts" }).fill(SUN);
  await page.getByRole("option", { name: SUN, exact: true }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Try", exact: true }).click();
  await expect(page.getByText(`On ${SUN} it would have found 1 episode`)).toBeVisible();
  await expect(page.getByRole("table", { name: `Episodes on ${SUN} over time` })).toContainText("smtx 900 /s");
  await page.getByRole("button", { name: "Enable" }).click();
  await expect(page.getByText(/mutex-own, version \d+ · watches/)).toBeVisible();

  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page).toHaveURL(/\/rules($|\?)/);
  await expect(page.getByRole("link", { name: "Spinning CPUs" })).toBeHidden();
});

test("a maintenance window is planned and ended", { tag: "@matrix" }, async ({ page, request }) => {
  await sendContention(request);
  await page.goto("/watch?tab=mutes");
  await page.getByRole("combobox", { name: "Host" }).fill(SUN);
  await page.getByRole("option", { name: SUN, exact: true }).click();
  await page.getByRole("textbox", { name: "Reason" }).fill("new disks");
  await page.getByRole("button", { name: "Mute", exact: true }).click();
  const row = page
    .getByRole("row")
    .filter({ hasText: `host ${SUN}` })
    .filter({ hasText: "new disks" });
  await expect(row).toContainText(`host ${SUN}`);
  await expect(row).toContainText("muted now");
  await expectAccessible(page);
  await page.goto("/watch");
  await expect(rowOf(page, SUN)).toContainText("muted until");
  await page.goto("/rules?tab=mutes");
  await row.getByRole("button", { name: `End now: mute of host ${SUN}` }).click();
  await expect(row).toContainText("ended");
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test("nothing is wider than the screen, and the count leads to what is on", { tag: "@matrix" }, async ({ page, request }) => {
    await contentionOf(`${SUN}-as-clouds-name-hosts-7f9c`)(request);
    await openNow(page, request);
    const paths = [
      ["/watch", rowOf(page, SUN)],
      ["/incidents?show=alert", rowOf(page, SUN).first()],
      ["/watch?tab=timeline", page.locator(".timeline-table")],
      ["/watch?tab=rules", page.getByRole("table", { name: "Rules" })],
      ["/watch?tab=mutes", page.getByRole("heading", { name: "New mute" })],
      ["/watch/rules/mutex", page.getByRole("heading", { name: "Kernel mutexes" })],
      ["/watch/new-rule", page.getByRole("textbox", { name: "Title" })],
    ] as const;
    for (const [path, shown] of paths) {
      await page.goto(path);
      await expect(shown).toBeVisible();
      expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(390);
    }
    await page.getByRole("link", { name: /^\d+ needs? attention/ }).click();
    await expect(rowOf(page, SUN).getByRole("button", { name: /^Acknowledge/ })).toBeVisible();
  });
});
