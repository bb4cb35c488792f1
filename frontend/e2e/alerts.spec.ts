import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Locator, Page } from "@playwright/test";
import { OURS } from "./agent";
import { contentionOf } from "./contention";
import { expect, expectAccessible, SCHEMES, showIn, test } from "./fixture";

/** A receiver of webhooks on this machine: what was posted, and what it answers. */
interface Receiver {
  readonly url: string;
  readonly bodies: string[];
  /** The header Authorization of each; undefined without one. */
  readonly authorizations: (string | undefined)[];
  status: number;
  readonly server: Server;
}

let receiver: Receiver;

test.beforeAll(async () => {
  const bodies: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => {
      body += piece.toString();
    });
    request.on("end", () => {
      bodies.push(body);
      authorizations.push(request.headers.authorization);
      response.statusCode = receiver.status;
      response.end("thank you");
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  receiver = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`,
    bodies,
    authorizations,
    status: 200,
    server,
  };
});

test.afterAll(() => {
  receiver.server.close();
});

/** Remove the stored header of a channel, after thinking better of it once, and test the channel. */
async function channelSecretRemoved(page: Page, row: Locator): Promise<void> {
  const dialog = page.getByRole("dialog");
  const header = dialog.getByLabel("Header Authorization (optional)", { exact: true });
  const remove = dialog.getByRole("button", { name: "Remove it: Header Authorization (optional)" });
  await row.getByRole("button", { name: /^Edit/ }).click();
  await expect(dialog.getByRole("button", { name: /^Remove it/ })).toHaveCount(1);
  await remove.click();
  await expect(header).toBeDisabled();
  await expect(dialog).toContainText("The stored one is removed when you save.");
  await dialog.getByRole("button", { name: /^Keep it/ }).click();
  await expect(header).toBeEnabled();
  await remove.click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await row.getByRole("button", { name: /^Test/ }).click();
  await expect(row.getByRole("status")).toContainText("Sent.");
  await row.getByRole("button", { name: /^Edit/ }).click();
  await expect(dialog.getByRole("button", { name: /^Remove it/ })).toHaveCount(0);
  await dialog.getByRole("button", { name: "Cancel" }).click();
}

const table = (page: Page, name: string) => page.getByRole("table", { name });

test("a channel is added, tested and changed, and a route that sends to it is tried, saved, moved and deleted", async ({
  page,
}) => {
  await page.goto("/watch?tab=alerts");
  await page.getByRole("button", { name: "New channel" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("on call");
  await dialog.getByRole("combobox", { name: "Kind" }).click();
  await page.getByRole("option", { name: "Webhook" }).click();
  await dialog.getByLabel("URL", { exact: true }).fill(receiver.url);
  await dialog.getByLabel("Header Authorization (optional)", { exact: true }).fill("Bearer opensesame");
  await expect(dialog.getByRole("button", { name: /^Remove it/ })).toHaveCount(0);
  await expectAccessible(dialog);
  await dialog.getByRole("button", { name: "Save" }).click();
  const channel = table(page, "Channels").getByRole("row").filter({ hasText: "on call" });
  await expect(channel).toContainText("http://127.0.0.1");
  await expect(channel).not.toContainText("/hook");
  await channel.getByRole("button", { name: "Test on call" }).click();
  await expect(channel.getByRole("status")).toContainText("Sent. The receiver said:");
  expect(receiver.bodies).toHaveLength(1);

  // The URL is a secret: it stays without being shown, and the receiver's answer is told.
  receiver.status = 400;
  await channel.getByRole("button", { name: "Edit on call" }).click();
  await expect(dialog.getByLabel("URL", { exact: true })).toHaveValue("");
  await expect(dialog).toContainText("One is stored; leave empty to keep it.");
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("on call 2");
  await dialog.getByRole("button", { name: "Save" }).click();
  const renamed = table(page, "Channels").getByRole("row").filter({ hasText: "on call 2" });
  await renamed.getByRole("button", { name: "Test on call 2" }).click();
  await expect(renamed.getByRole("status")).toContainText(/Not sent: .*400/);
  expect(receiver.bodies).toHaveLength(2);
  receiver.status = 200;

  // A secret that is optional can be removed, the URL cannot.
  await channelSecretRemoved(page, renamed);
  expect(receiver.authorizations).toEqual(["Bearer opensesame", "Bearer opensesame", undefined]);

  await page.getByRole("button", { name: "New route" }).click();
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("web at night");
  await dialog.getByRole("combobox", { name: "Hosts" }).fill("nothing-like-this*");
  await page.keyboard.press("Enter");
  await dialog.getByRole("button", { name: "Only at some times of the week" }).click();
  await dialog.getByRole("combobox", { name: "Channels" }).fill("on call");
  await page.getByRole("option", { name: "on call 2" }).click();
  await page.keyboard.press("Escape");
  await expect(dialog).toBeVisible();
  await dialog.getByRole("button", { name: "Try on the last 7 days" }).click();
  await expect(dialog.getByRole("status").filter({ hasText: "It would have sent nothing" })).toBeVisible();
  await expectAccessible(dialog);
  await dialog.getByRole("button", { name: "Save" }).click();
  const routes = table(page, "Routes").locator("tbody tr");
  const route = routes.filter({ hasText: "web at night" });
  await expect(route).toContainText("hosts nothing-like-this*; critical or worse; Mon–Fri 08:00–18:00");
  await expect(route).toContainText("to on call 2; after 30 s");
  await expect(renamed).toContainText("web at night");

  await page.getByRole("button", { name: "New route" }).click();
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("the rest");
  await dialog.getByRole("combobox", { name: "Hosts" }).fill("nor-this");
  await page.keyboard.press("Enter");
  await dialog.getByRole("combobox", { name: "Channels" }).fill("on call");
  await page.getByRole("option", { name: "on call 2" }).click();
  await page.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(routes.last()).toContainText("the rest");
  await page.getByRole("button", { name: "Move the rest up" }).click();
  await expect(routes.last()).toContainText("web at night");

  for (const colorScheme of SCHEMES) {
    await showIn(page, colorScheme);
    await expectAccessible(page);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.setViewportSize({ width: 1280, height: 900 });

  for (const name of ["web at night", "the rest"]) {
    await page.getByRole("button", { name: `Delete ${name}` }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await expect(routes.filter({ hasText: name })).toHaveCount(0);
  }
  await renamed.getByRole("button", { name: "Delete on call 2" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(renamed).toHaveCount(0);
});

test("the link in a message opens its alert alone, with the episodes", { tag: "@matrix" }, async ({ page, request }) => {
  const host = `moon${String(Date.now() % 1_000_000)}`;
  const post = async (path: string, data: unknown): Promise<number> => {
    const answer = await request.post(`/api/v1/${path}`, { headers: OURS, data });
    expect(answer.status(), await answer.text()).toBe(201);
    return ((await answer.json()) as { id: number }).id;
  };
  const settings = { kind: "webhook", url: receiver.url, authorization: null, template: "" };
  const channel = await post("alert-channels", { name: `to ${host}`, is_enabled: true, settings });
  const route = await post("alert-routes", {
    name: `all of ${host}`,
    is_enabled: true,
    settings: {
      match: { hosts: [host], tags: [], groups: [], sources: [], subsystems: [], lowest: "amber", hours: [], time_zone: "UTC" },
      channels: [channel],
      group_by: "story",
      wait_s: 0,
      repeat_min: null,
      sends_resolved: true,
      resolve_wait_s: 300,
      escalations: [],
      is_last: false,
    },
  });
  await contentionOf(host)(request);
  const links = (): string[] =>
    receiver.bodies
      .map((body) => JSON.parse(body) as Record<string, unknown>)
      .flatMap(({ route: by, alert_link }) => (by === `all of ${host}` ? [String(alert_link)] : []));
  await expect.poll(() => links().length).toBeGreaterThan(0);
  const address = new URL(links()[0] ?? "");
  const name = `Alert ${address.searchParams.get("alert") ?? ""}`;

  await page.goto(`${address.pathname}${address.search}`);
  await expect(page.getByRole("heading", { name })).toBeVisible();
  await expect(table(page, name).locator("tbody tr")).toHaveCount(1);
  await expect(table(page, name)).toContainText("began → ");
  await expect(table(page, "Episodes").getByRole("link", { name: host }).first()).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("link", { name: "All alerts" }).click();
  await expect(table(page, "Sent").getByRole("link", { name, exact: true })).toBeVisible();

  await request.delete(`/api/v1/alert-routes/${String(route)}`, { headers: OURS });
  await request.delete(`/api/v1/alert-channels/${String(channel)}`, { headers: OURS });
});
