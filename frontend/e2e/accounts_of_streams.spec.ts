import { sendStream, VMSTAT_HEAD } from "./agent";
import { expect, expectAccessible, SCHEMES, showIn, test } from "./fixture";
import { HOST } from "./story";

const BROKEN = "broken1";
const KEY = "vmstat_linux.1795255200.7-1";
const N_GARBAGE = 12;

/** A minute of vmstat output mixed with lines of another program. */
function captureWithGarbage(): string {
  const lines = [...VMSTAT_HEAD];
  for (let second = 0; second < 60; second += 1) {
    const clock = `2026-11-21 10:00:${String(second).padStart(2, "0")}`;
    lines.push(` 1  0      0 ${String(812_000 + second)}  10244 409600    0    0     5    12  250  400  3  2 95  0  0 ${clock}`);
    if (second >= 20 && second < 20 + N_GARBAGE) {
      lines.push(`garbage ${String(second)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

test.beforeAll(async ({ request }) => {
  await sendStream(request, { host: BROKEN, spec: "vmstat_linux", key: KEY, command: "vmstat -t 1", text: captureWithGarbage() });
});

test("the hosts page warns of a sudden rise of rejected lines", { tag: "@matrix" }, async ({ page }) => {
  await page.goto("/hosts");
  const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: BROKEN, exact: true }) });
  await expect(row.getByText(`rising: ${String(N_GARBAGE)} in 1 h`)).toBeVisible();
  const calm = page.getByRole("row").filter({ has: page.getByRole("link", { name: HOST, exact: true }) });
  await expect(calm.getByText(/rising/)).toBeHidden();
  await row.getByRole("link", { name: `${String(N_GARBAGE)} rejected lines of ${BROKEN}` }).click();
  await expect(page).toHaveURL(/tab=streams&only=rejected/);
  await expect(page.getByRole("button", { name: /Details of vmstat_linux/ })).toBeVisible();

  // Of a host without any, every line is counted.
  await page.goto(`/hosts/${HOST}?tab=streams`);
  await expect(page.getByRole("table", { name: "Streams" }).getByText("18,000")).toBeVisible();
  await page.getByRole("tab", { name: /rejected lines/ }).click();
  await expect(page.getByText("No rejected lines")).toBeVisible();
});

test("a stream shows its lines by kind and one in context, by keyboard, and is reparsed from its stored bytes", async ({
  page,
}) => {
  await page.goto(`/hosts/${BROKEN}/streams?tz=utc`);
  await page.getByRole("button", { name: /Details of vmstat_linux/ }).focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/stream=\d+/);
  const kinds = page.getByRole("table", { name: "Lines and bytes by kind" });
  await expect(kinds.getByRole("row", { name: /rejected/ })).toContainText(String(N_GARBAGE));
  const lines = page.getByRole("table", { name: "Lines rejected for this reason" });
  await expect(lines.getByRole("row")).toHaveCount(N_GARBAGE + 1);
  for (const colorScheme of SCHEMES) {
    await showIn(page, colorScheme);
    await expectAccessible(page);
  }

  await lines
    .getByRole("row", { name: /garbage 25/ })
    .getByRole("button")
    .focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: `vmstat_linux on ${BROKEN}` });
  await expect(dialog.locator("[aria-current]")).toContainText("garbage 25");
  await expect(dialog.getByRole("listitem")).toHaveCount(21);
  await expect(dialog.getByText(/812024 /)).toBeVisible();
  await dialog.getByRole("button", { name: "50", exact: true }).click();
  await expect(dialog.getByText("procs", { exact: false })).toBeVisible();
  await expectAccessible(dialog);

  // The link reproduces the view.
  await page.reload();
  await expect(dialog.locator("[aria-current]")).toContainText("garbage 25");
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(kinds).toBeVisible();

  await page.getByRole("button", { name: `Reparse: vmstat_linux, ${KEY}` }).click();
  await expect(page.getByText(`Reparsed: 59 samples, as before; ${String(N_GARBAGE)} lines still rejected`)).toBeVisible();
  await expect(lines.getByRole("row")).toHaveCount(N_GARBAGE + 1);

  await page.goto(`/hosts/${BROKEN}?tab=rejected`);
  await page
    .getByRole("row", { name: /garbage 31/ })
    .getByRole("button", { name: /Show in context/ })
    .click();
  await expect(page.getByRole("dialog").locator("[aria-current]")).toContainText("garbage 31");
});
