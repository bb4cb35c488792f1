import { OURS } from "./agent";
import { expect, expectAccessible, showIn, test } from "./fixture";

const HOST = "bench1";
const START = Date.parse("2026-11-22T10:00:00Z");
// Fixed work on two CPUs: two workers take half the time, four take as long as two.
const TIMES: readonly (readonly [string, readonly number[]])[] = [
  ["1", [8, 8.2, 7.9]],
  ["2", [4.1, 4, 4.05]],
  ["4", [4.05, 4.1, 4]],
];

test.beforeAll(async ({ request }) => {
  let at = START;
  for (const [workers, times] of TIMES) {
    for (const real of times) {
      const made = await request.post("/api/v1/experiments/runs", {
        headers: OURS,
        data: {
          experiment: "hash",
          host: HOST,
          start: new Date(at).toISOString(),
          end: new Date(at + 1000 * real).toISOString(),
          factors: { workers, tool: "<b>a</b>" },
          command: "xargs -P",
          exit_status: 0,
          results: [
            { name: "real", value: real, unit: "s" },
            { name: "user", value: 7.9, unit: "s" },
            { name: "sys", value: 0.1, unit: "s" },
          ],
        },
      });
      expect(made.status()).toBe(201);
      at += 60_000;
    }
  }
});

test("an experiment leads with what saturates; a run is excluded, one is deleted and comes back, and two are compared", async ({
  page,
}) => {
  await page.goto("/experiments?tz=utc&find=hash");
  await expectAccessible(page);
  await page.getByRole("link", { name: "hash" }).click();
  const verdict = page.getByRole("region", { name: "What it says" });
  await expect(verdict).toContainText("Full at workers=2: 1.98 times as fast as the reference; more adds nothing");
  await expect(verdict).toContainText("The Universal Scalability Law needs runs at 4 levels or more; there are 3");
  const means = page.getByRole("table", { name: "Means of repeats" });
  await expect(means.getByRole("row").nth(2)).toContainText("×1.98");
  await expect(
    page
      .getByRole("img", { name: /^Chart of real by workers/ })
      .locator(".points path")
      .first(),
  ).toBeVisible();
  await expectAccessible(page);
  await showIn(page, "dark");
  await expectAccessible(page);
  await showIn(page, "light");

  await page.locator("label", { hasText: /^Efficiency$/ }).click();
  await expect(page).toHaveURL(/show=efficiency/);
  await page.getByLabel("Curves").selectOption("amdahl");
  await expect(page).toHaveURL(/model=amdahl/);

  const runs = page.getByRole("table", { name: "Runs" });
  await expect(runs).toContainText("<b>a</b>");
  await runs
    .getByRole("button", { name: /^Actions of run/ })
    .first()
    .click();
  await page.getByRole("menuitem", { name: "Exclude with a reason…" }).click();
  await page.getByLabel("Reason").fill("cold cache");
  await page.getByRole("button", { name: "Exclude", exact: true }).click();
  await expect(runs).toContainText("left out: excluded: cold cache");
  await expect(means.getByRole("row").nth(1).getByRole("cell").nth(1)).toHaveText("2");

  const rows = runs.getByRole("row");
  await expect(rows).toHaveCount(10);
  const remove = page.getByRole("menuitem", { name: "Delete" });
  // A menu closes when the page below it changes, as it may while it still loads.
  await expect(async () => {
    await page
      .getByRole("button", { name: /^Actions of run/ })
      .last()
      .click();
    await expect(remove).toBeVisible({ timeout: 5_000 });
  }).toPass();
  await remove.click();
  await expect(rows).toHaveCount(9);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(rows).toHaveCount(10);

  const boxes = runs.getByRole("checkbox");
  await boxes.nth(1).check();
  await boxes.nth(4).check();
  const compare = page.getByRole("region", { name: "Compare two runs" });
  await expect(compare.getByRole("link", { name: "What is different" })).toHaveAttribute("href", /baseline_window=.*incident=/);
  await compare.getByRole("link", { name: "Overlaid" }).click();
  await expect(page).toHaveURL(/\/graph\?.*run=bench1%402026-11-22/);
});
