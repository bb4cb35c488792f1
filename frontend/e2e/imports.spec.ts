import { gzipSync } from "node:zlib";
import type { Page } from "@playwright/test";
import { VMSTAT_HEAD } from "./agent";
import { drawnPanel, expect, expectAccessible, test } from "./fixture";

function vmstat(hour: number, garbage = 0): Buffer {
  const lines = [...VMSTAT_HEAD];
  for (let second = 0; second < 60; second += 1) {
    const clock = `2026-11-20 ${String(hour).padStart(2, "0")}:00:${String(second).padStart(2, "0")}`;
    lines.push(` 1  0      0 812000  10244 409600    0    0     5    12  250  400  ${String(second)}  2 38  0  0 ${clock}`);
  }
  for (let number = 0; number < garbage; number += 1) {
    lines.push(`not of vmstat ${String(number)}`);
  }
  return Buffer.from(`${lines.join("\n")}\n`);
}

interface File {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

const file = (name: string, buffer: Buffer): File => ({ name, mimeType: "application/octet-stream", buffer });

async function load(page: Page, host: string, files: readonly File[]): Promise<void> {
  await page.getByRole("combobox", { name: "Host" }).fill(host);
  await page.keyboard.press("Escape");
  await page
    .locator("input[type=file]")
    .first()
    .setInputFiles([...files]);
  await page.getByRole("button", { name: /^Load \d/ }).click();
}

test("files are loaded, told what they are, and shown on the page of their host", async ({ page }) => {
  await page.goto("/imports?tz=utc");
  await load(page, "filed1", [
    file("monday.txt.gz", gzipSync(vmstat(9, 3))),
    file("letter.txt", Buffer.from("Dear all,\nthis is no output of a tool.\n")),
  ]);
  const table = page.getByRole("table", { name: "Imports" });
  const monday = table.getByRole("row").filter({ hasText: "monday.txt.gz" }).first();
  await expect(monday.getByText("done")).toBeVisible();
  await expect(monday).toContainText("59 samples");
  await expect(monday).toContainText("3 rejected lines");
  const letter = table.getByRole("row").filter({ hasText: "letter.txt" }).first();
  await expect(letter).toContainText("not output of a known tool");

  await monday.getByRole("button", { name: "Files of monday.txt.gz" }).click();
  await expect(page).toHaveURL(/import=\d+/);
  const files = page.getByRole("table", { name: "Files of monday.txt.gz" });
  await expect(files).toContainText("vmstat_linux");
  await files.getByRole("button", { name: /3 rejected lines/ }).click();
  await expect(files.getByRole("listitem")).toHaveCount(1);
  await expectAccessible(page);

  await page.getByRole("link", { name: "Show on the page of filed1" }).click();
  await expect(page).toHaveURL(/hosts\/filed1\?.*from=2026-11-20T08:59:/);
  await drawnPanel(page, "vmstat_linux.run_queue");
});

test(
  "loading the same file again changes nothing; removing an import keeps its samples",
  { tag: "@matrix" },
  async ({ page }) => {
    await page.goto("/imports?tz=utc");
    const table = page.getByRole("table", { name: "Imports" });
    for (const expected of [/^60 samples$|59 samples/, /all loaded before/]) {
      await load(page, "filed2", [file("twice.txt", vmstat(10))]);
      await expect(table.getByRole("row").filter({ hasText: "twice.txt" }).first()).toContainText(expected);
    }
    const rows = table.getByRole("row").filter({ hasText: "twice.txt" });
    await expect(rows).toHaveCount(2);
    await rows.first().getByRole("button", { name: "Remove twice.txt" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
    await expect(rows).toHaveCount(1);
    await page.goto("/hosts?recorded=1");
    await expect(page.getByRole("link", { name: "filed2", exact: true })).toBeVisible();
  },
);

test(
  "a file without times is loaded by Retry, without choosing it again, and removed by Undo",
  { tag: "@matrix" },
  async ({ page }) => {
    await page.goto("/imports?tz=utc");
    const lines = vmstat(12).toString().split("\n");
    const timeless = lines.map((line) => line.replace(/ 2026-11-20 [\d:]+$/, "").replace(/ -----timestamp-----$| +UTC$/, ""));
    await load(page, "filed4", [file("timeless.txt", Buffer.from(timeless.join("\n")))]);
    const table = page.getByRole("table", { name: "Imports" });
    const row = table.getByRole("row").filter({ hasText: "timeless.txt" }).first();
    await expect(row).toContainText("it prints no times");
    const form = row.getByRole("form", { name: "Complete timeless.txt" });
    await form.getByLabel(/First report at/).fill("2026-11-20 12:00:00");
    const interval = form.getByLabel("Seconds between reports");
    if ((await interval.count()) > 0) {
      await interval.fill("1");
    }
    await form.getByRole("button", { name: "Retry timeless.txt" }).click();
    const retried = table
      .getByRole("row")
      .filter({ hasText: /timeless\.txt.*59 samples/ })
      .first();
    await expect(retried).toBeVisible();

    await retried.getByRole("button", { name: "Undo timeless.txt" }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog).toContainText("The samples and the raw output");
    await dialog.getByRole("button", { name: "Undo", exact: true }).click();
    await expect(dialog).toBeHidden();
    await expect(table.getByText("undone: 59 samples removed")).toBeVisible();
  },
);

test("files are dropped, left out again, and need a host", { tag: "@matrix" }, async ({ page }) => {
  await page.goto("/imports");
  const transfer = await page.evaluateHandle(() => {
    const made = new DataTransfer();
    made.items.add(new File(["one"], "one.txt"));
    made.items.add(new File(["two"], "two.txt"));
    return made;
  });
  await page.getByRole("group", { name: "Files to load" }).dispatchEvent("drop", { dataTransfer: transfer });
  const chosen = page.getByRole("list", { name: "Chosen files" });
  await expect(chosen.getByRole("listitem")).toHaveCount(2);
  await chosen.getByRole("button", { name: "Remove one.txt" }).click();
  await expect(chosen.getByRole("listitem")).toHaveCount(1);
  await page.getByRole("button", { name: /^Load 1 file/ }).click();
  await expect(page.getByText("enter the host of the files")).toBeVisible();
  await page.getByRole("combobox", { name: "Host" }).fill("no blanks please");
  await expect(page.getByText(/letters, digits and/)).toBeVisible();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Times and tool/ }).click();
  await page.getByLabel("Date", { exact: true }).fill("21.11.2026");
  await page.getByLabel("Seconds between reports").fill("none");
  await expect(page.getByText("use the form 2026-11-21")).toBeVisible();
});

test.describe("when a file does not get through", () => {
  test.use({ expectedErrors: /status of 413|Failed to load resource/ });

  test("the reason is said, and it can be tried again", { tag: "@matrix" }, async ({ page }) => {
    let isFull = true;
    await page.route("**/api/v1/imports?*", (route) =>
      isFull && route.request().method() === "POST"
        ? route.fulfill({
            status: 413,
            json: {
              error: { code: "too_large", message: "The file is larger than this server takes", details: {}, request_id: "r-9" },
            },
          })
        : route.fallback(),
    );
    await page.goto("/imports");
    await load(page, "filed3", [file("retried.txt", vmstat(11))]);
    await expect(page.getByText(/Not sent: The file is larger than this server takes/)).toBeVisible();
    isFull = false;
    await page.getByRole("button", { name: "Try again: retried.txt" }).click();
    await expect(page.getByRole("row").filter({ hasText: "retried.txt" }).first()).toContainText("59 samples");
  });
});
