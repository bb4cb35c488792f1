import type { APIRequestContext } from "@playwright/test";
import { OURS } from "./agent";
import { expect, expectAccessible, showIn, test } from "./fixture";

const HOST = "bench1";
const LOCKS = (count: number, caller: string) => `Mutex block

Count     nsec Lock                         Caller
-------------------------------------------------------------------------------
${String(count)}    69427 libc.so.1\`libc_malloc_lock   libzip.so\`${caller}
   1    10483 libc.so.1\`libc_malloc_lock   libnsl.so.1\`netconfig_free+0x10
`;
const STACKS = (weight: number) => `java;main;<script>alert(1)</script>;read ${String(weight)}\njava;main;write 20\n`;
const LOG = `| time | cpu | command | lock/unlock | function |
|------|-----|---------|-------------|----------|
| 10:59:59.109884679 | 0 | kdm_greet | lock | |
| 10:59:59.109884888 | 0 | kdm_greet | unlock | |
| 11:00:15.543851385 | 3 | iozone | unlock | schedule() |
`;

async function put(request: APIRequestContext, text: string, params: Record<string, string>): Promise<number> {
  const made = await request.post("/api/v1/artefacts", {
    headers: { ...OURS, "content-type": "application/octet-stream" },
    params: { host: HOST, ...params },
    data: Buffer.from(text),
  });
  expect(made.status(), await made.text()).toBe(201);
  return ((await made.json()) as { id: number }).id;
}

test("locks are listed, read with the costliest first, and compared", async ({ page, request }) => {
  const command = "plockstat -A -e 10 -p 4711";
  const question = { command, question: "Which locks does mqd wait for?" };
  await put(request, LOCKS(218, "deflate+0x29c"), { ...question, start: "2026-11-22T10:00:00Z" });
  await put(request, LOCKS(8, "deflate+0x29c"), { ...question, start: "2026-11-22T11:00:00Z" });
  await page.goto("/artefacts?tz=utc&from=2026-11-22T00:00:00Z&to=2026-11-23T00:00:00Z&find=mqd");
  const links = page.getByRole("link", { name: question.question });
  await expect(links).toHaveCount(2);
  await expectAccessible(page);
  await links.last().click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(question.question);
  await expect(page.getByRole("row").filter({ hasText: "deflate+0x29c" }).first()).toContainText("15,135,086");
  await expect(page.getByRole("region", { name: "Suggestions" })).toContainText("libc_malloc_lock");
  await expectAccessible(page);
  await showIn(page, "dark");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Compare with…" }).click();
  await page.getByRole("menuitem").filter({ hasText: "11:00:00" }).click();
  await expect(page).toHaveURL(/\/artefacts\/diff\?/);
  // (8 * 69427 + 10483) / (218 * 69427 + 10483)
  await expect(page.getByRole("table").first()).toContainText("3.736 %");
});

test("stacks and a kernel's log are drawn, and names from programs stay text", { tag: "@matrix" }, async ({ page, request }) => {
  const before = await put(request, STACKS(60), { start: "2026-11-22T10:00:00Z" });
  const after = await put(request, STACKS(90), { start: "2026-11-22T11:00:00Z" });
  await page.goto(`/artefacts/${String(before)}?tz=utc`);
  await expect(page.getByRole("region", { name: "Stacks" })).toContainText("kernel");
  await expectAccessible(page);
  await page.goto(`/artefacts/diff?tz=utc&before=${String(before)}&after=${String(after)}`);
  await expect(page.getByText("Total samples rose from 80 to 110")).toBeVisible();
  await expectAccessible(page);
  const log = await put(request, LOG, { start: "2026-11-22T12:00:00Z" });
  await page.goto(`/artefacts/${String(log)}?tz=utc`);
  await expect(page.getByRole("table").last()).toContainText("10:59:59.109884679");
});
