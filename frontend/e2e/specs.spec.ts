import { expect, expectAccessible, test } from "./fixture";

const OURS = { "X-Normstat-Request": "1" };
const NAME = "shop_time";
const SAMPLE = `time      logins  orders  wait_ms
10:00:10      12     340     12.5
10:00:20      14     355     11.9
10:00:30    oops     351     11.9
`;

test("every spec is listed; one shows what its fields mean", async ({ page }) => {
  await page.goto("/specs");
  const filter = page.getByRole("textbox", { name: "Filter specs" });
  await filter.fill("vmstat linux");
  await expect(page).toHaveURL(/filter=vmstat/);
  await expectAccessible(page);
  await page.getByRole("link", { name: "vmstat_linux", exact: true }).click();
  await expect(page.getByRole("heading", { name: "vmstat_linux", exact: true })).toBeVisible();
  const fields = page.getByRole("table", { name: "Fields of vmstat_linux", exact: true });
  await expect(fields.getByRole("row", { name: /procs_r/ })).toContainText("Processes that run or wait for a CPU.");
  await page.getByRole("button", { name: /Show the text of the spec/ }).click();
  await expect(page.getByText('name = "vmstat_linux"').first()).toBeVisible();
  await expectAccessible(page);
});

test("an add-on is made from a pasted sample, read with a preview, saved, changed and deleted", async ({ page, request }) => {
  await page.goto("/specs");
  await page.getByRole("link", { name: "New add-on" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("vmstat_linux");
  await expect(page.getByText(/is built in; choose another name/)).toBeVisible();
  await page.getByRole("textbox", { name: "Name" }).fill(NAME);
  await page.getByRole("textbox", { name: /Command/ }).fill("shop_time 10");
  await page.getByRole("textbox", { name: "Sample" }).fill(SAMPLE);
  await page.getByRole("button", { name: "Draft the columns" }).click();

  const rows = page.getByRole("table", { name: `Rows of ${NAME}` });
  await expect(rows.getByRole("row")).toHaveCount(3);
  const rejected = page.getByRole("table", { name: "Rejected lines" });
  await expect(rejected).toContainText("oops");
  await expectAccessible(page);

  // What is changed in the table stands in the text, and in the preview at once.
  await page.getByRole("textbox", { name: "Key of logins" }).fill("n_logins");
  await page.getByRole("textbox", { name: "Help of logins" }).fill("How many came in.");
  await expect(rows.getByRole("columnheader", { name: "n_logins" })).toBeVisible();
  await page.getByRole("tab", { name: "Text (TOML)" }).click();
  const text = page.getByRole("textbox", { name: "Text of the spec" });
  await expect(text).toHaveValue(/key = "n_logins"/);
  await page.getByRole("button", { name: `Save ${NAME}` }).click();

  await expect(page).toHaveURL(new RegExp(`/specs/${NAME}`));
  await expect(page.getByText(/add-on · version 1/)).toBeVisible();
  await expect(page.getByRole("row", { name: /n_logins/ })).toContainText("How many came in.");
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Sample" }).fill(SAMPLE);
  await expect(rows.getByRole("row")).toHaveCount(3);
  await page.getByRole("textbox", { name: "Unit of orders" }).fill("orders");
  await page.getByRole("button", { name: `Save ${NAME}` }).click();
  await expect(page.getByText(/add-on · version 2/)).toBeVisible();

  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page).toHaveURL(/\/specs$/);
  await expect(page.getByRole("link", { name: NAME, exact: true })).toBeHidden();
  const gone = await request.get(`/api/v1/specs/${NAME}`, { headers: OURS });
  expect(gone.status()).toBe(404);
});

test.describe("a spec that contradicts itself", () => {
  test.use({ expectedErrors: /status of 4\d\d/ });

  test("says where, and what was changed is not lost by a click", async ({ page }) => {
    await page.goto("/specs/new");
    await page.getByRole("textbox", { name: "Name" }).fill("wrong_one");
    await page.getByRole("textbox", { name: "Sample" }).fill(SAMPLE);
    await page.getByRole("button", { name: "Draft the columns" }).click();
    await expect(page.getByRole("table", { name: "Rows of wrong_one" })).toBeVisible();
    await page.getByRole("textbox", { name: "Key of logins" }).fill("Not A Key");
    await expect(page.getByText("The spec cannot be used like this")).toBeVisible();
    await expect(page.getByRole("alert").filter({ hasText: "Not A Key" })).toBeVisible();
    await page.getByRole("link", { name: "Hosts", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Leave without saving?" });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await expect(page.getByRole("textbox", { name: "Key of logins" })).toHaveValue("Not A Key");
    await page.getByRole("link", { name: "Hosts", exact: true }).click();
    await dialog.getByRole("button", { name: "Leave" }).click();
    await expect(page).toHaveURL(/\/hosts/);
  });
});

test.describe("a spec that is not there", () => {
  test.use({ expectedErrors: /status of 404/ });

  test("is said so", async ({ page }) => {
    await page.goto("/specs/nothing_such");
    await expect(page.getByText("There is no spec nothing_such")).toBeVisible();
  });
});

test("specs are accessible in the dark", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto("/specs");
  await expect(page.getByRole("table", { name: "Specs" })).toBeVisible();
  await expectAccessible(page);
  await page.goto("/specs/mpstat_linux");
  await expect(page.getByRole("table", { name: /Fields of mpstat_linux/ }).first()).toBeVisible();
  await expectAccessible(page);
});
