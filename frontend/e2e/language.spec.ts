import { expect, expectAccessible, test } from "./fixture";
import { HOST, range, WHOLE } from "./story";

/** Texts of the catalogue that each of these pages would show in English. */
const PAGES = [
  {
    path: `/hosts/${HOST}?${range(WHOLE)}`,
    heading: HOST,
    german: "Diagramme",
    english: ["Graphs", "Rejected lines", "Select", "Export…", "Explore"],
  },
  {
    path: "/comparison",
    heading: "Einen Vorfall mit einer Baseline vergleichen",
    german: "Vergleichen",
    english: ["Compare", "Incident", "From", "Saved comparisons…"],
  },
  { path: "/hosts", heading: "Hosts", german: "Jetzt auffällig", english: ["Add a host", "Unusual now", "Last hour"] },
] as const;

test.use({ locale: "de-DE" });

test("a German browser gets the page in German, until English is chosen in the account menu", async ({ page }) => {
  for (const { path, heading, german, english } of PAGES) {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1, name: heading })).toBeVisible();
    await expect(page.locator("html")).toHaveAttribute("lang", "de");
    await expect(page.getByText(german).first()).toBeVisible();
    for (const text of english) {
      await expect(page.getByText(text, { exact: true })).toHaveCount(0);
    }
  }
  await expectAccessible(page);
  await page.getByRole("button", { name: "admin" }).click();
  await page.getByRole("menuitem", { name: "English" }).click();
  await expect(page.locator("html")).toHaveAttribute("lang", "en");
  await expect(page.getByRole("columnheader", { name: "Unusual now" })).toBeVisible();
});
