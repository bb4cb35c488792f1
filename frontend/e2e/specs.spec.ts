import { OURS, sendStream } from "./agent";
import { drawnPanel, expect, expectAccessible, SCHEMES, showIn, test } from "./fixture";

const NAME = "shop_time";
const SAMPLE = `time      logins  orders  wait_ms
10:00:10      12     340     12.5
10:00:20      14     355     11.9
10:00:30 restarting the shop after a crash
`;

test("every spec is listed; one shows what its fields mean", { tag: "@matrix" }, async ({ page }) => {
  await page.goto("/specs");
  const filter = page.getByRole("textbox", { name: "Filter specs" });
  await filter.fill("vmstat linux");
  await expect(page).toHaveURL(/filter=vmstat/);
  for (const scheme of SCHEMES) {
    await showIn(page, scheme);
    await expectAccessible(page);
  }
  await page.getByRole("link", { name: "vmstat_linux", exact: true }).click();
  await expect(page.getByRole("heading", { name: "vmstat_linux", exact: true })).toBeVisible();
  const fields = page.getByRole("table", { name: "Fields of vmstat_linux", exact: true });
  await expect(fields.getByRole("row", { name: /procs_r/ })).toContainText("Processes running or waiting for a CPU.");
  await page.getByRole("button", { name: /Show spec text/ }).click();
  await expect(page.getByText('name = "vmstat_linux"').first()).toBeVisible();
  await expectAccessible(page);
});

test("an add-on is drafted from a pasted sample, previewed, saved, edited and deleted", async ({ page, request }) => {
  await page.goto("/specs");
  await page.getByRole("link", { name: "New add-on" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("vmstat_linux");
  await expect(page.getByText(/is built in; choose another name/)).toBeVisible();
  await page.getByRole("textbox", { name: "Name" }).fill(NAME);
  await page.getByRole("textbox", { name: /Command/ }).fill("shop_time 10");
  await page.getByRole("textbox", { name: "Sample" }).fill(SAMPLE);
  await page.getByRole("button", { name: "Draft columns" }).click();

  const rows = page.getByRole("table", { name: `Rows of ${NAME}` });
  await expect(rows.getByRole("row")).toHaveCount(3);
  const rejected = page.getByRole("table", { name: "Rejected lines" });
  await expect(rejected).toContainText("restarting the shop");
  await expectAccessible(page);

  // Edits in the table appear in the text and in the preview at once.
  await page.getByRole("textbox", { name: "Key of logins" }).fill("n_logins");
  await page.getByRole("textbox", { name: "Help of logins" }).fill("How many came in.");
  await expect(rows.getByRole("columnheader", { name: "n_logins" })).toBeVisible();
  await page.getByRole("tab", { name: "Text (TOML)" }).click();
  const text = page.getByRole("textbox", { name: "Spec text" });
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

test("samples of an add-on are drawn; after an edit, its streams are reparsed", { tag: "@matrix" }, async ({ page, request }) => {
  const name = "shop_rate";
  const text = "time      logins  orders\n2026-11-21 10:00:10 12 340\n2026-11-21 10:00:20 14 355\n2026-11-21 10:00:30 11 351\n";
  const draft = await request.post("/api/v1/specs/draft", { headers: OURS, data: { name, sample: text, shape: "single" } });
  expect(draft.status(), await draft.text()).toBe(200);
  const { toml } = (await draft.json()) as { toml: string };
  const put = async (changed: string): Promise<void> => {
    const answer = await request.put(`/api/v1/specs/${name}`, { headers: OURS, data: { toml: changed } });
    expect(answer.status(), await answer.text()).toBe(200);
  };
  await put(toml);
  await sendStream(request, { host: "shop1", spec: name, key: `${name}.1795255200.1-1`, command: "shop_rate 10", text });
  await page.goto("/hosts/shop1?from=2026-11-21T09:59:00Z&to=2026-11-21T10:02:00Z");
  await drawnPanel(page, `${name}.first`);

  await put(toml.replace('unit = ""', 'unit = "1/s"'));
  await page.goto("/specs");
  const row = page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
  await expect(row.getByText("1 outdated stream")).toBeVisible();
  await page.goto("/hosts/shop1?tab=streams&only=outdated");
  await expect(page.getByRole("table", { name: "Streams" }).getByText("outdated", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Reparse: outdated streams of shop1" }).click();
  await expect(page.getByText("No streams match “outdated” (1 in total)")).toBeVisible();
  await page.goto("/specs");
  await expect(row).toBeVisible();
  await expect(row.getByText("1 outdated stream")).toBeHidden();
});

test.describe("a spec that contradicts itself", () => {
  test.use({ expectedErrors: /status of 4\d\d/ });

  test(
    "shows the error, and a click does not lose the edits; one that is unknown is said so",
    { tag: "@matrix" },
    async ({ page }) => {
      await page.goto("/specs/new");
      await page.getByRole("textbox", { name: "Name" }).fill("wrong_one");
      await page.getByRole("textbox", { name: "Sample" }).fill(SAMPLE);
      await page.getByRole("button", { name: "Draft columns" }).click();
      await expect(page.getByRole("table", { name: "Rows of wrong_one" })).toBeVisible();
      await page.getByRole("textbox", { name: "Key of logins" }).fill("Not A Key");
      await expect(page.getByText("This spec cannot be used")).toBeVisible();
      await expect(page.getByRole("alert").filter({ hasText: "Not A Key" })).toBeVisible();
      await page.getByRole("link", { name: "Hosts", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Leave without saving?" });
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await expect(page.getByRole("textbox", { name: "Key of logins" })).toHaveValue("Not A Key");
      await page.getByRole("link", { name: "Hosts", exact: true }).click();
      await dialog.getByRole("button", { name: "Leave" }).click();
      await expect(page).toHaveURL(/\/hosts/);
      await page.goto("/specs/nothing_such");
      await expect(page.getByText("Spec nothing_such not found")).toBeVisible();
    },
  );
});
