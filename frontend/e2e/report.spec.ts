import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { expect, expectAccessible, test } from "./fixture";
import { BASELINE, HOST, INCIDENT, iso } from "./story";

const ASKED = {
  host: HOST,
  start: iso(INCIDENT.start),
  end: iso(INCIDENT.end),
  baseline_start: iso(BASELINE.start),
  baseline_end: iso(BASELINE.end),
};

test("the report of a comparison needs nothing but its file, and prints", async ({ page, request }, info) => {
  const made = await request.get("/api/v1/comparison/report.html", { params: { ...ASKED, note: "Ask <b>Kim</b>." } });
  expect(made.status()).toBe(200);
  const file = info.outputPath("report.html");
  await writeFile(file, await made.body());

  const wanted: string[] = [];
  page.on("request", (asked) => wanted.push(asked.url()));
  const address = pathToFileURL(file).href;
  await page.goto(address);
  await expect(page.getByRole("heading", { level: 1 })).toContainText(HOST);
  await expect(page.locator(".notes")).toHaveText("Ask <b>Kim</b>.");
  // The stories are first; all changes are below, on a screen only.
  await expect(page.getByRole("heading", { name: "What happened" })).toBeVisible();
  await expect(page.locator(".story svg").first()).toBeVisible();
  await expect(page.locator("article").first()).toBeHidden();
  await page.locator("summary").click();
  expect(await page.locator("article svg").count()).toBeGreaterThan(0);
  await expect(page.getByRole("heading", { name: "Next questions" }).first()).toBeVisible();
  await expectAccessible(page);

  // The numbers are in the file: they are those of the route.
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "comparison.csv" }).click(),
  ]);
  const numbers = await request.get("/api/v1/comparison/report.csv", { params: ASKED });
  expect(readFileSync(await download.path(), "utf8")).toBe(await numbers.text());

  const paper = await page.pdf({ format: "A4", printBackground: true });
  expect(paper.subarray(0, 5).toString()).toBe("%PDF-");
  expect(paper.toString("latin1").match(/\/Type\s*\/Page[^s]/g)?.length, "pages of paper").toBeLessThanOrEqual(2);
  expect(wanted.filter((url) => url !== address && !url.startsWith("data:"))).toEqual([]);
});
