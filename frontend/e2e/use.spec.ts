import type { Page } from "@playwright/test";
import { expect, expectAccessible, showIn, test } from "./fixture";
import { HOST, range, WHOLE } from "./story";

const RESOURCES = ["cpu", "memory", "disk", "network", "swap", "filesystem", "locks", "files"];
type State = "fine" | "warning" | "critical" | "no_limit" | "not_recorded";

function hostOf(name: string, states: Readonly<Partial<Record<string, State>>>, state: State) {
  const cells = RESOURCES.map((resource) => {
    const own = states[resource] ?? "not_recorded";
    const isRecorded = own !== "not_recorded";
    return {
      resource,
      state: own,
      kind: isRecorded ? "utilisation" : null,
      text: isRecorded ? "97 %" : "",
      n_recorded: isRecorded ? 2 : 0,
      n_questions: 3,
    };
  });
  return { host: name, state, cells };
}

async function answerFleetUse(page: Page): Promise<void> {
  await page.route("**/api/v1/use", (route) =>
    route.fulfill({
      json: {
        start: "2026-11-23T06:59:00Z",
        end: "2026-11-23T07:00:00Z",
        resources: Object.fromEntries(RESOURCES.map((resource) => [resource, resource])),
        hosts: [
          hostOf("db1", { cpu: "critical", disk: "warning", memory: "fine" }, "critical"),
          hostOf(HOST, { cpu: "fine", filesystem: "no_limit" }, "fine"),
        ],
      },
    }),
  );
}

test("the worst cell of each resource of every host, and from there to the host", async ({ page }) => {
  await answerFleetUse(page);
  await page.goto("/watch?tab=use");
  const table = page.getByRole("table", { name: "Utilisation, saturation and errors of all hosts" });
  await expect(page.getByRole("status").filter({ hasText: "critical" })).toContainText("1 of 2 hosts critical, 0 with a warning");
  const row = table.getByRole("row", { name: /^db1/ });
  await expect(row.getByRole("cell").nth(0)).toContainText("97 %critical · utilisation · 2 of 3 recorded");
  await expect(row.getByRole("cell").nth(3)).toHaveText("not recorded");
  // Green is for what was measured.
  await expect(table.locator('[data-state="fine"]')).toHaveCount(2);
  await expect(table.locator('[data-state="not_recorded"]')).toHaveCount(11);
  for (const colorScheme of ["light", "dark"] as const) {
    await showIn(page, colorScheme);
    await expectAccessible(page);
  }
  await page.getByRole("textbox", { name: "Filter hosts" }).fill(HOST.toUpperCase());
  await expect(table.getByRole("row")).toHaveCount(2);
  await table.getByRole("link", { name: HOST }).click();
  await expect(page).toHaveURL(new RegExp(`/hosts/${HOST}\\?.*tab=use`));
  await expect(page.getByRole("tab", { name: "USE" })).toHaveAttribute("aria-selected", "true");
});

test("a host's matrix has values with their limits, and how to get what is not recorded", async ({ page }) => {
  await page.goto(`/hosts/${HOST}?${range(WHOLE)}&tab=use`);
  const table = page.getByRole("table", { name: "Utilisation, saturation and errors of each resource" });
  const cpus = table.getByRole("row", { name: /^CPUs/ });
  await expect(cpus.getByRole("cell").first()).toContainText(/\d %.*warning from 80 %, critical from 95 %/);
  const files = table.getByRole("row", { name: /^Open files/ });
  await expect(files.getByRole("cell").first()).toContainText("Not recorded. To ask the host:");
  await expect(files.getByRole("cell").first().locator("code")).toHaveCount(2);
  await expect(files.locator('[data-state="fine"]')).toHaveCount(0);
  for (const colorScheme of ["light", "dark"] as const) {
    await showIn(page, colorScheme);
    await expectAccessible(page);
  }
  await cpus.getByRole("cell").first().getByRole("button").click();
  await expect(page).toHaveURL(/explore=/);
});
