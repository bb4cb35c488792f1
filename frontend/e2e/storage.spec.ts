import { sendStream, VMSTAT_HEAD } from "./agent";
import { askAlone, expect, expectAccessible, SCHEMES, showIn, test } from "./fixture";
import { HOST } from "./story";

const OLD = "old1";

test("disk usage is shown by stat and by host; a retention rule is saved, and deleted", async ({ page }) => {
  await page.goto("/hosts");
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Settings" }).click();
  await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Storage" }).click();
  await expect(page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Storage" })).toHaveAttribute(
    "data-status",
    "active",
  );
  const stats = page.getByRole("table", { name: "Sizes by stat" });
  await expect(stats.getByRole("row").filter({ hasText: "mpstat_linux" })).toContainText(/\d\.\d\d/);
  await expect(page.getByRole("table", { name: "Sizes by host" }).getByRole("link", { name: HOST, exact: true })).toBeVisible();
  await expect(page.getByRole("img", { name: /samples .*raw bytes/ })).toBeVisible();
  for (const colorScheme of SCHEMES) {
    await showIn(page, colorScheme);
    await expectAccessible(page);
  }

  await page.getByRole("button", { name: "Add rule for a stat" }).click();
  const [rule, all] = [
    page.getByRole("group", { name: /^Rule for \w+_/ }),
    page.getByRole("group", { name: "Rule for all other" }),
  ];
  await rule.getByLabel("Keep samples (days)").fill("400");
  await all.getByLabel("Keep raw bytes (days)").fill("500");
  await page.getByRole("button", { name: "Save…" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete old data automatically" });
  await expect(dialog.getByRole("listitem")).toHaveCount(2);
  await expectAccessible(dialog);
  await dialog.getByLabel("Type delete to confirm").fill("delete");
  await dialog.getByRole("button", { name: "Save rules" }).click();
  await expect(dialog).toBeHidden();
  await page.reload();
  await expect(rule.getByLabel("Keep samples (days)")).toHaveValue("400");
  await expect(page.getByRole("button", { name: "Apply rules now…" })).toBeEnabled();

  // Keeping more than before needs no confirmation.
  await rule.getByRole("button", { name: /Delete the rule/ }).click();
  await all
    .or(page.getByRole("group", { name: "Rule for all stats" }))
    .getByLabel("Keep raw bytes (days)")
    .fill("");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("button", { name: "Apply rules now…" })).toBeHidden();
});

test("a host is deleted once its name is typed, and its samples go", { tag: "@matrix" }, async ({ page, request }) => {
  const lines = [
    ...VMSTAT_HEAD,
    ...[1, 2, 3].map(
      (second) =>
        ` 1  0      0 812000  10244 409600    0    0     5    12  250  400  3  2 95  0  0 2026-11-20 10:00:0${String(second)}`,
    ),
  ];
  const text = `${lines.join("\n")}\n`;
  await sendStream(request, {
    host: OLD,
    spec: "vmstat_linux",
    key: "vmstat_linux.1795168800.9-1",
    command: "vmstat -t 1",
    text,
  });
  // The server measures at most once a minute, so its response may not include the host yet.
  await askAlone(page);
  await page.route("**/api/v1/storage", async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { hosts: { host: string }[] };
    const old = {
      host: OLD,
      sample_bytes: 5e6,
      chunk_bytes: 1e6,
      n_samples: 3,
      bytes_per_day: null,
      first_sample_at: null,
      last_sample_at: null,
    };
    await route.fulfill({ json: { ...body, hosts: [...body.hosts.filter(({ host }) => host !== OLD), old] } });
  });
  await page.goto("/storage");
  await page.getByRole("button", { name: `Delete ${OLD}` }).click();
  const dialog = page.getByRole("dialog", { name: `Delete host ${OLD}` });
  const button = dialog.getByRole("button", { name: "Delete host and all its data" });
  await dialog.getByLabel(`Type ${OLD} to confirm`).fill(OLD);
  await button.click();
  await expect(dialog).toBeHidden();
  const row = page.getByRole("table", { name: "Deleted hosts" }).getByRole("row").filter({ hasText: OLD });
  await expect(row).toContainText("done");
  expect((await request.get(`/api/v1/hosts/${OLD}`)).status()).toBe(404);
});
