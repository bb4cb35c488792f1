import type { Page } from "@playwright/test";
import { expect, expectAccessible, showIn, test } from "./fixture";

const END = Date.UTC(2026, 10, 23, 7, 0);

interface Told {
  readonly name: string;
  readonly level?: number;
  readonly verdict?: string;
  readonly state?: string;
  readonly groups?: readonly string[];
}

function hostOf({ name, level = 0, verdict = "judged", state = "live", groups = [] }: Told) {
  const isJudged = verdict === "judged";
  const line = {
    resource: "disk",
    label: "vda busy",
    unit: "%",
    now: level > 0 ? 98 : 3,
    low: isJudged ? 0 : null,
    high: isJudged ? 6 : null,
    top: 100,
    heights: "2".repeat(50) + (level > 0 ? "y" : "2").repeat(10),
    level,
  };
  return {
    name,
    os: "Linux 6.1 x86_64",
    state,
    last_seen_ms: END,
    last_sample_ms: END,
    clock_offset_s: 0,
    n_streams_live: 4,
    n_streams: 4,
    n_rejected: 0,
    n_rejected_last_hour: 0,
    n_rejected_hour_before: 0,
    has_reject_rise: false,
    groups,
    tags: [],
    agent_tags: [],
    verdict,
    change_ratio: isJudged ? level * 5 : null,
    level,
    sentence:
      level > 0 ? `disk vda busy 98 %, normally 0 to 6 %` : "as in quiet: 12 key metrics within their natural variability",
    baseline_id: isJudged ? 1 : null,
    baseline_name: isJudged ? "quiet" : "",
    is_rolling: false,
    ribbon: (isJudged ? "0" : "?").repeat(50) + (isJudged ? String(level) : "?").repeat(10),
    lines: [line],
  };
}

/** Answer with these hosts; return the moments that were asked for. */
async function answerFleet(page: Page, told: readonly Told[]): Promise<(string | null)[]> {
  const asked: (string | null)[] = [];
  await page.route("**/api/v1/fleet*", (route) => {
    asked.push(new URL(route.request().url()).searchParams.get("at"));
    return route.fulfill({
      json: { end_ms: END, n_minutes: 60, n_minutes_read: 60, n_recent_minutes: 5, hosts: told.map(hostOf) },
    });
  });
  return asked;
}

const SOME: readonly Told[] = [
  { name: "calm1" },
  { name: "culprit", level: 3, groups: ["Web servers"] },
  { name: "unknown", verdict: "no_baseline" },
  { name: "odd", level: 1 },
  { name: "tape", state: "recorded", verdict: "no_baseline" },
];
const links = (page: Page) => page.locator(".fleet-host a");

test("the culprit comes first, and no host without a baseline looks normal", async ({ page }) => {
  await answerFleet(page, SOME);
  await page.goto("/hosts");
  await expect(links(page)).toHaveText(["culprit", "odd", "unknown", "calm1"]);
  const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "culprit" }) });
  await expect(row).toContainText("disk vda busy 98 %, normally 0 to 6 %");
  await expect(row.getByRole("img", { name: /10 min very unusual/ })).toBeVisible();
  const unknown = page.getByRole("row").filter({ has: page.getByRole("link", { name: "unknown" }) });
  await expect(unknown).toContainText("no baseline");
  await expect(unknown.locator('[data-cell="0"]')).toHaveCount(0);
  await unknown.getByRole("button", { name: "Save a normal hour as baseline of unknown" }).click();
  await expect(page.getByRole("dialog", { name: "Save as baseline" })).toContainText("unknown");
  await page.keyboard.press("Escape");
  for (const colorScheme of ["light", "dark"] as const) {
    await showIn(page, colorScheme);
    await expectAccessible(page);
  }
});

test("a host with a red rule stands before all others, and its mark leads to what the rule says", async ({ page }) => {
  await answerFleet(page, SOME);
  const hosts = [
    { host: "calm1", colour: "red", n: 2 },
    { host: "unknown", colour: "amber", n: 1 },
  ];
  await page.route("**/api/v1/watch/open*", (route) => route.fulfill({ json: { n_waiting: 2, worst: "red", hosts } }));
  await page.goto("/hosts");
  await expect(links(page)).toHaveText(["calm1", "culprit", "odd", "unknown"]);
  const row = page.locator('.fleet-row[data-on="red"]');
  await expect(row).toHaveCount(1);
  const mark = row.getByRole("link", { name: /^critical on calm1:/ });
  await expect(mark).toHaveAttribute("href", /\/watch\?.*host=calm1/);
  await page.getByRole("button", { name: "State", exact: true }).click();
  await expect(links(page)).toHaveText(["calm1", "unknown", "culprit", "odd"]);
  await showIn(page, "dark");
  await expectAccessible(page);
});

test("hosts are searched, sorted and unfolded, and the link keeps it", async ({ page }) => {
  await answerFleet(page, SOME);
  await page.goto("/hosts");
  await page.getByRole("button", { name: "Host", exact: true }).click();
  await expect(links(page)).toHaveText(["calm1", "culprit", "odd", "unknown"]);
  await page.getByRole("button", { name: /Recorded hosts \(1\)/ }).click();
  await expect(links(page)).toHaveText(["calm1", "culprit", "odd", "unknown", "tape"]);
  await expect(page).toHaveURL(/sort=name&recorded=1/);
  await page.locator(".fleet-row").first().focus();
  await page.keyboard.press("/");
  await page.keyboard.type("group:web");
  await expect(links(page)).toHaveText(["culprit"]);
  await page.keyboard.press("Escape");
  await expect(links(page)).toHaveCount(5);
});

test("rows are selected and opened by keyboard, and lead to an overlay, a comparison and a baseline", async ({ page }) => {
  await answerFleet(page, SOME);
  await page.goto("/hosts");
  await page.locator(".fleet-row").first().focus();
  await page.keyboard.press("Space");
  await page.keyboard.press("ArrowDown");
  await expect(page.locator('[data-row="1"]')).toBeFocused();
  await page.keyboard.press("Space");
  const bar = page.getByRole("region", { name: "Selected hosts" });
  await expect(bar).toContainText("2 hosts selected");
  await expect(bar.getByRole("link", { name: "Overlay" })).toHaveAttribute("href", "/graph?hosts=culprit,odd");
  await expect(bar.getByRole("link", { name: "Compare" })).toHaveAttribute("href", /host=culprit&host=odd.*incident=/);
  await bar.getByRole("button", { name: /Save as baseline/ }).click();
  await expect(page.getByRole("dialog")).toContainText("culprit, odd");
  await page.keyboard.press("Escape");
  await page.locator('[data-row="1"]').focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/hosts\/odd/);
});

test("a moment of the past is asked for once and stands in the link", async ({ page }) => {
  const asked = await answerFleet(page, SOME);
  await page.goto("/hosts?at=2026-11-23T06:59:00Z&tz=utc");
  await expect(page.getByText("at 2026-11-23 06:59 UTC")).toBeVisible();
  await expect(links(page).first()).toHaveAttribute("href", /from=2026-11-23T05:59:00Z&to=2026-11-23T06:59:00Z/);
  expect(asked).toEqual(["2026-11-23T06:59:00Z"]);
  await page.getByRole("button", { name: "Now", exact: true }).click();
  await expect(page).not.toHaveURL(/at=/);
});

test("the kiosk has no header and no tools, and Escape leaves it", async ({ page }) => {
  await answerFleet(page, SOME);
  await page.goto("/hosts?kiosk");
  await expect(page.getByRole("heading", { name: "5 hosts, 2 unusual" })).toBeVisible();
  await expect(page.getByRole("navigation")).toBeHidden();
  await expect(page.getByRole("checkbox")).toHaveCount(0);
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("navigation")).toBeVisible();
});

test("of a thousand hosts only the rows in view are drawn", async ({ page }) => {
  await answerFleet(
    page,
    Array.from({ length: 1000 }, (_, number) => ({ name: `host${String(number)}` })),
  );
  await page.goto("/hosts");
  await expect(page.getByText("1,000 hosts")).toBeVisible();
  expect(await page.locator(".fleet-row").count()).toBeLessThan(80);
  await page.locator(".fleet-row").first().focus();
  await page.keyboard.press("End");
  await expect(page.getByRole("link", { name: "host999", exact: true })).toBeVisible();
  await expect(page.locator('[data-row="999"]')).toBeFocused();
});
