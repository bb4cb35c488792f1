import { sendStream } from "./agent";
import { expect, expectAccessible, test } from "./fixture";

const FACTS = "facts1";

const BEFORE = ["system\tDebian GNU/Linux 12 (bookworm)", "cpus\t4", "memory_kb\t16393232", "boot_time\t1795300011"];
const AFTER = [
  "system\tDebian GNU/Linux 12 (bookworm)",
  "cpus\t2",
  "memory_kb\t16393232",
  "boot_time\t1795309011",
  "mount /\text4 /dev/vda1",
];

const AT = ["1795309200", "1795309500", "1795309800"];

test.beforeAll(async ({ request }) => {
  const text = `${["1795305600", ...BEFORE, ...AT.flatMap((at) => [at, ...AFTER])].join("\n")}\n`;
  await sendStream(request, { host: FACTS, spec: "host_facts", key: "host_facts.1795305600.7-1", command: "facts 3600", text });
});

test(
  "a host's facts are listed with their changes, each with a link to the graphs around it",
  { tag: "@matrix" },
  async ({ page }) => {
    await page.goto(`/hosts/${FACTS}?tz=utc`);
    await page.getByRole("tab", { name: "About", exact: true }).click();
    await expect(page).toHaveURL(/tab=facts/);
    const facts = page.getByRole("table", { name: "Facts about this host" });
    await expect(facts.getByRole("row", { name: /^CPUs online 2 2026-11-22 01:00:00$/ })).toBeVisible();
    await expect(facts.getByRole("row", { name: /^Memory 15\.6 GiB$/ })).toBeVisible();
    await expect(facts.getByRole("row", { name: /^Booted 2026-11-22 00:56:51/ })).toBeVisible();
    await expect(facts.getByRole("rowheader")).toHaveText(["System", "CPUs", "Memory", "Disks and file systems"]);
    const changes = page.getByRole("table", { name: "Changes of facts" });
    await expect(changes.getByRole("row")).toHaveCount(4);
    await expect(changes.getByRole("row", { name: /^2026-11-22 01:00:00 after 00:00:00 CPUs online 4 2/ })).toBeVisible();
    await expect(changes.getByRole("row", { name: /Mounted \/ none ext4 \/dev\/vda1/ })).toBeVisible();
    await expectAccessible(page);
    await changes
      .getByRole("row", { name: /CPUs online 4 2/ })
      .getByRole("link", { name: "Graphs" })
      .click();
    await expect(page).toHaveURL(/from=2026-11-22T00(:|%3A)45/);
  },
);

test("what happened is marked in the graphs, reachable by keyboard and listed", async ({ page }) => {
  await page.goto(`/hosts/${FACTS}?tz=utc&from=2026-11-22T00:50:00Z&to=2026-11-22T01:10:00Z`);
  // The boot has its own time; what was seen an hour after the look before comes later.
  const flags = page.getByRole("button", { name: /^2026-11-22 / });
  await expect(flags).toHaveCount(2);
  await expect(flags.first()).toHaveAccessibleName("2026-11-22 00:56:51: Rebooted");
  await flags.nth(1).focus();
  await expect(page.locator(".event-note")).toContainText("2026-11-22 01:00:00: CPUs online: 4 → 2 (after 00:00:00)");
  const panel = page.getByRole("group", { name: /^CPUs: use the arrow keys/ });
  await expect(panel).toHaveAccessibleDescription(/Rebooted/);
  await expect(panel.locator(".event-line")).toHaveCount(2);
  await panel.locator(".event-line").first().hover();
  await expect(panel.locator(".event-note")).toHaveText("2026-11-22 00:56:51: Rebooted");
  await page.getByText("3 events in this window").click();
  await expect(page.getByRole("list", { name: "Events in this window" }).getByRole("listitem")).toHaveText([
    /00:56:51 Rebooted\s+From here/,
    /01:00:00 CPUs online: 4 → 2 \(after 00:00:00\)\s+From here/,
    /01:00:00 Mounted \/ \(ext4 \/dev\/vda1\)/,
  ]);
  await expectAccessible(page);
});
