import { OURS } from "./agent";
import { expect, expectAccessible, test } from "./fixture";

test("a report is shared by a link that opens without a login, until it is revoked", async ({
  page,
  request,
  browser,
  baseURL,
}) => {
  const started = await request.post("/api/v1/reports", { headers: OURS, data: { title: "Shared with the vendor" } });
  const report = ((await started.json()) as { report: { id: number } }).report.id;
  await request.post(`/api/v1/reports/${String(report)}/notes`, {
    headers: OURS,
    data: { note: { kind: "text", title: "Cause", markdown: "The mutex of malloc" }, place: null },
  });
  await page.goto(`/reports/${String(report)}`);
  await page.getByRole("button", { name: "Share…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Create link" }).click();
  await expect(dialog.getByText(/\/shared#token=nss_/)).toBeVisible();
  await expect(dialog.getByRole("row")).toHaveCount(2);
  await expectAccessible(page);
  const address = (await dialog.getByText(/\/shared#token=/).textContent()) ?? "";

  const context = await browser.newContext({
    ...(baseURL === undefined ? {} : { baseURL }),
    storageState: { cookies: [], origins: [] },
  });
  const stranger = await context.newPage();
  // Nothing is asked that a stranger may not know: each would stand in the console.
  const refused: string[] = [];
  stranger.on("response", (response) => {
    if (response.status() === 401) {
      refused.push(response.url());
    }
  });
  const path = address.slice(address.indexOf("/shared#"));
  await stranger.goto(path);
  await expect(stranger.getByRole("heading", { name: "Shared with the vendor" })).toBeVisible();
  await expect(stranger.getByText(/^Shared by .*, valid until .* UTC$/)).toBeVisible();
  await expect(stranger.frameLocator("iframe").getByText("The mutex of malloc")).toBeVisible();
  expect(stranger.url()).not.toContain("nss_");
  expect(refused).toEqual([]);
  await expectAccessible(stranger);

  await dialog.getByRole("button", { name: /^Revoke the link/ }).click();
  await expect(dialog.getByRole("row")).toHaveCount(0);
  await stranger.goto("about:blank");
  await stranger.goto(path);
  await expect(stranger.getByText("This link is unknown, has expired or was revoked")).toBeVisible();
  await context.close();
});
