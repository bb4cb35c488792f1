import { sendStream } from "./agent";
import { drawnPanel, expect, expectAccessible, SCHEMES, showIn, test } from "./fixture";
import { SCREENSHOT_DIR } from "./story";

const HOST = "procs1";
const EPOCH = 1_795_305_600;
const WINDOW = "from=2026-11-21T23:59:00Z&to=2026-11-22T00:02:00Z&tz=utc";

interface Counters {
  readonly parent?: number;
  readonly utime: number;
  readonly start: number;
}

function stat(pid: number, command: string, { parent = 1, utime, start }: Counters): string {
  return `${String(pid)} (${command}) S ${String(parent)} 1 1 0 -1 4194304 0 0 0 0 ${String(utime)} 0 0 0 20 0 1 0 ${String(start)} 4096 10 1\n`;
}

function told(pid: number, user: string, text: string): string {
  return `==> /proc/${String(pid)}/status <==\nUid:\t0\t0\t0\t0\nUser:\t${user}\nArgs:\t${text}\n`;
}

/** Every 5 s: java from before, a dd from 2 s to 12 s, and 300 short processes of cc. */
function snapshots(): string {
  return Array.from({ length: 8 }, (_, at) => {
    const java =
      stat(7, "java", { utime: 100 + at * 50, start: 50_000 }) + (at === 0 ? told(7, "web", "java -jar shop.jar") : "");
    const dd = at === 1 || at === 2 ? stat(20, "dd", { parent: 7, utime: at * 200, start: 100_200 }) : "";
    const first = at === 1 ? told(20, "root", "dd if=/dev/zero of=/tmp/x") : "";
    const compilers = Array.from({ length: 300 }, (_unused, n) =>
      stat(1000 + at * 300 + n, "cc1", { utime: 1, start: 100_000 + at * 500 - 100 }),
    );
    const uptime = `==> /proc/uptime <==\n${String(1000 + 5 * at)}.00 0.00\n`;
    return `${String(EPOCH + 5 * at)}\n${uptime}${stat(1, "init", { utime: 0, start: 1 })}${java}${dd}${first}${compilers.join("")}`;
  }).join("");
}

test.beforeAll(async ({ request }) => {
  const key = `proc_pid_linux.${String(EPOCH)}.7-1`;
  await sendStream(request, { host: HOST, spec: "proc_pid_linux", key, command: "sample 5", text: snapshots() });
});

test("a command opens to its processes, and a process tells who started it and when", async ({ page }) => {
  await page.goto(`/hosts/${HOST}?${WINDOW}`);
  await page.getByRole("tab", { name: "Processes" }).click();
  await expect(page).toHaveURL(/tab=processes/);
  const table = page.getByRole("table", { name: "Commands and processes" });
  await expect(table.getByRole("button", { name: "java", exact: true })).toBeVisible();
  await expect(page.getByText("4 commands")).toBeVisible();

  await table.getByRole("button", { name: "Processes of dd" }).click();
  await expect(page).toHaveURL(/open=dd/);
  await table.getByRole("button", { name: "dd (20)" }).click();
  await expect(page).toHaveURL(/command=dd.*pid=20/);
  const facts = page.getByRole("table", { name: "About this process" });
  await expect(facts).toContainText("2026-11-22 00:00:02");
  await expect(facts).toContainText("2026-11-22 00:00:10");
  await expect(facts).toContainText("root");
  await expect(facts).toContainText("dd if=/dev/zero of=/tmp/x");
  await expect(page.locator('[data-panel="linux_process.process_cpu"] .legend-frame')).toBeVisible();
  for (const scheme of SCHEMES) {
    await showIn(page, scheme);
    await expectAccessible(page);
    if (SCREENSHOT_DIR !== null) {
      await page.screenshot({ path: `${SCREENSHOT_DIR}/processes-process-${scheme}-1280.png` });
    }
  }

  // Its parent, and back; then the graphs of the host at the same window.
  await facts.getByRole("button", { name: "java (7)" }).click();
  await expect(page.getByRole("heading", { name: "java (7)" })).toBeVisible();
  await expect(page.getByRole("table", { name: "About this process" })).toContainText("running at the last report");
  await page.goBack();
  await expect(page.getByRole("heading", { name: "dd (20)" })).toBeVisible();
  await page.getByRole("button", { name: "All processes of dd" }).click();
  await expect(page.locator('[data-panel="linux_command.process_cpu"] .legend-frame')).toBeVisible();
  await page.getByRole("link", { name: `Graphs of ${HOST} in this window` }).click();
  await expect(page).toHaveURL(/from=2026-11-21T23:59:00Z/);
  await expect(page.locator('[data-panel="linux_command.cpu"]')).toBeVisible();
});

test(
  "Enter and a click in a graph show the processes of that instant, and arrow keys go from report to report",
  { tag: "@matrix" },
  async ({ page }) => {
    await page.goto(`/hosts/${HOST}?${WINDOW}`);
    const { surface } = await drawnPanel(page, "linux_command.cpu");
    await surface.focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    const sheet = page.getByRole("region", { name: "Processes at an instant" });
    await expect(sheet).toContainText("Processes (Linux) at 00:00:30, covers 5 s");
    await expect(page).toHaveURL(/[?&]at=2026-11-22T00:00:30Z/);
    await expectAccessible(sheet);

    const slider = sheet.getByRole("slider", { name: "Instant" });
    for (const second of ["25", "20", "15", "10"]) {
      await slider.press("ArrowLeft");
      await expect(sheet).toContainText(`Processes (Linux) at 00:00:${second}, covers 5 s`);
    }
    const table = sheet.getByRole("table", { name: "Processes at this instant" });
    await expect(table.getByRole("row").nth(1)).toContainText("dd (20)");
    await expect(table.getByRole("row").nth(1)).toContainText("root");
    await table.getByRole("button", { name: "Command" }).click();
    await expect(table.getByRole("row").nth(1)).toContainText("cc1");
    await page.keyboard.press("Escape");
    await expect(sheet).toBeHidden();
    await surface.click({ position: { x: 300, y: 80 } });
    await expect(sheet).toBeVisible();
    await page.goBack();
    await expect(sheet).toBeHidden();
  },
);

test(
  "of thousands of processes only those on the screen are drawn, and the search finds one",
  { tag: "@matrix" },
  async ({ page }) => {
    await page.goto(`/hosts/${HOST}?${WINDOW}&tab=processes&open=cc1`);
    const table = page.getByRole("table", { name: "Commands and processes" });
    await expect(table).toHaveAttribute("aria-rowcount", /^2\d{3}$/);
    expect(await table.getByRole("row").count()).toBeLessThan(150);
    for (const scheme of SCHEMES) {
      await showIn(page, scheme);
      await expectAccessible(page);
      if (SCREENSHOT_DIR !== null) {
        await page.screenshot({ path: `${SCREENSHOT_DIR}/processes-list-${scheme}-1280.png` });
      }
    }
    await page.getByRole("textbox", { name: "Search commands" }).fill("ja");
    await expect(page.getByText("1 command", { exact: true })).toBeVisible();
    await expect(table.getByRole("button", { name: "java", exact: true })).toBeVisible();
  },
);
