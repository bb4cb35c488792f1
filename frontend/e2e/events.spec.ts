import { OURS, sendStream } from "./agent";
import { expect, expectAccessible, showIn, test } from "./fixture";

const NOTED = "events1";
const WINDOW = "from=2026-11-22T00:50:00Z&to=2026-11-22T01:10:00Z";

const FACTS = ["cpus\t4", "boot_time\t1795300011"];
const CHANGED = ["cpus\t2", "boot_time\t1795300011"];

test.beforeAll(async ({ request }) => {
  const text = `${["1795305600", ...FACTS, "1795309200", ...CHANGED, "1795309500", ...CHANGED, "1795309800", ...CHANGED].join("\n")}\n`;
  await sendStream(request, { host: NOTED, spec: "host_facts", key: "host_facts.1795305600.8-1", command: "facts 3600", text });
});

test("n notes an event at the crosshair; it is marked, changed, deleted, and the deletion undone", async ({ page }) => {
  await page.goto(`/hosts/${NOTED}?tz=utc&${WINDOW}`);
  const surface = page.getByRole("group", { name: /^CPUs: use the arrow keys/ });
  await surface.hover();
  await page.keyboard.press("n");
  const dialog = page.getByRole("dialog", { name: "Note an event" });
  await expect(dialog.getByLabel("At (UTC)")).toHaveValue(/^2026-11-22 0[01]:\d\d:\d\d$/);
  await dialog.getByLabel("At (UTC)").fill("2026-11-22 00:55:00");
  await dialog.getByLabel("Until").fill("2026-11-22 00:50:00");
  await dialog.getByLabel("Until").blur();
  await expect(dialog.getByText("The end must be after the start. Leave it empty for a moment")).toBeVisible();
  await dialog.getByLabel("Until").fill("");
  await expectAccessible(dialog);
  await dialog.getByLabel("What happened").fill("deployed <b>1.4</b>");
  await dialog.getByLabel("What happened").press("Enter");
  await expect(dialog).toBeHidden();
  const flag = page.getByRole("button", { name: "2026-11-22 00:55:00: deployed <b>1.4</b>" });
  await expect(flag).toBeVisible();
  await expect(surface.locator(".event-line")).toHaveCount(2);

  await page.getByText("2 events in this window").click();
  const entry = page.getByRole("list", { name: "Events in this window" }).getByRole("listitem").filter({ hasText: "deployed" });
  await entry.getByRole("button", { name: /^Change/ }).click();
  const change = page.getByRole("dialog", { name: "Change event" });
  await change.getByLabel("What happened").fill("deployed 1.5");
  await change.getByLabel("Until").fill("2026-11-22 00:57:00");
  await change.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("button", { name: "2026-11-22 00:55:00 – 00:57:00: deployed 1.5" })).toBeVisible();
  await expect(surface.locator(".event-span")).toHaveCount(1);
  await expectAccessible(page);
  await showIn(page, "dark");
  await expectAccessible(page);

  await entry.getByRole("button", { name: /^Delete/ }).click();
  await expect(surface.locator(".event-line")).toHaveCount(1);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("Restored “deployed 1.5”")).toBeVisible();
  await expect(surface.locator(".event-line")).toHaveCount(2);
});

test("a window is chosen by two events on the strip, and by the list", { tag: "@matrix" }, async ({ page, request }) => {
  for (const [text, at] of [
    ["begin of the run", "2026-11-22T00:52:00Z"],
    ["end of the run", "2026-11-22T01:08:00Z"],
  ]) {
    const made = await request.post("/api/v1/events", { headers: OURS, data: { text, at, hosts: [NOTED], tags: ["run"] } });
    expect(made.status()).toBe(201);
  }
  await page.goto(`/hosts/${NOTED}?tz=utc&${WINDOW}`);
  await page.getByRole("button", { name: /: begin of the run$/ }).click();
  await page.getByRole("button", { name: /: end of the run$/ }).click({ modifiers: ["Shift"] });
  await expect(page).toHaveURL(/from=2026-11-22T00:52:00Z&to=2026-11-22T01:08:01Z/);
  await page.getByText(/events in this window/).click();
  const end = page.getByRole("list", { name: "Events in this window" }).getByRole("listitem").filter({ hasText: "CPUs online" });
  await end.getByRole("button", { name: /^To here/ }).click();
  await expect(page).toHaveURL(/from=2026-11-22T00:52:00Z&to=2026-11-22T01:00:01Z/);

  await page.goto(`/hosts/${NOTED}?tz=utc&tab=events`);
  const table = page.getByRole("table", { name: "Events" });
  await expect(table.getByRole("row", { name: /CPUs online: 4 → 2/ })).toBeVisible();
  await table.getByRole("button", { name: "From here: begin of the run" }).click();
  await table.getByRole("button", { name: "To here: end of the run" }).click();
  await expect(page.getByRole("region", { name: "Window between two events" })).toContainText("00:52:00 – 01:08:01");
  await page.getByRole("link", { name: `Graphs of ${NOTED}` }).click();
  await expect(page).toHaveURL(/from=2026-11-22T00:52:00Z&to=2026-11-22T01:08:01Z/);
});

test(
  "the events of all hosts are searched and filtered, with a link that holds the filter",
  { tag: "@matrix" },
  async ({ page, request }) => {
    const noted = {
      text: "power maintenance",
      at: "2026-11-20T10:00:00Z",
      end: "2026-11-20T12:00:00Z",
      kind: "maintenance",
      tags: ["dc2"],
    };
    expect((await request.post("/api/v1/events", { headers: OURS, data: noted })).status()).toBe(201);
    await page.goto("/hosts?tz=utc");
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Incidents" }).click();
    await page.getByRole("radio", { name: "Events" }).press("Space");
    const table = page.getByRole("table", { name: "Events" });
    await page.getByRole("textbox", { name: "Search events" }).fill("POWER");
    await expect(table.getByRole("row")).toHaveCount(2);
    await expect(table.getByRole("row").nth(1)).toContainText("for 2 h");
    await expect(page).toHaveURL(/find=POWER/);
    await page.getByRole("textbox", { name: "Search events" }).fill("");
    // The rows have moved before one of them is pressed: a press that ends on another row is no click.
    await expect(table.getByRole("row")).not.toHaveCount(2);
    await table.getByRole("button", { name: "#dc2" }).click();
    await expect(table.getByRole("row")).toHaveCount(2);
    await expect(page).toHaveURL(/tag=dc2/);
    await expectAccessible(page);
    await page.getByRole("textbox", { name: /^From/ }).fill("someday");
    await expect(page.getByText("“someday” is not a time.")).toBeVisible();
    await page.getByRole("textbox", { name: /^From/ }).fill("2026-11-21");
    await expect(page.getByText("No events match")).toBeVisible();
    await page.getByRole("button", { name: "Show all events" }).click();
    await expect(table.getByRole("row", { name: /power maintenance/ })).toBeVisible();
    await expect(page.getByRole("link", { name: "CSV" })).toHaveAttribute("href", /\/api\/v1\/events\.csv/);
  },
);
