import { expect, expectAccessible, SCHEMES, showIn, test } from "./fixture";
import { HOST, range, WHOLE } from "./story";

test("a host's matrix has values with their limits, and how to get what is not recorded", async ({ page }) => {
  await page.goto(`/hosts/${HOST}?${range(WHOLE)}&tab=use`);
  const table = page.getByRole("table", { name: "Utilisation, saturation and errors of each resource" });
  const cpus = table.getByRole("row", { name: /^CPUs/ });
  await expect(cpus.getByRole("cell").first()).toContainText(/\d %.*warning from 80 %, critical from 95 %/);
  const files = table.getByRole("row", { name: /^Open files/ });
  await expect(files.getByRole("cell").first()).toContainText("Not recorded. Run on the host:");
  await expect(files.getByRole("cell").first().locator("code")).toHaveCount(2);
  await expect(files.locator('[data-state="fine"]')).toHaveCount(0);
  for (const colorScheme of SCHEMES) {
    await showIn(page, colorScheme);
    await expectAccessible(page);
  }
  await cpus.getByRole("cell").first().getByRole("button").click();
  await expect(page).toHaveURL(/explore=/);
});
