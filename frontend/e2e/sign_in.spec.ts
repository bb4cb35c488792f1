/** The ways in that are more than a name and a password: a code of an authenticator app, and a login provider. */

import { createHmac } from "node:crypto";
import type { Browser, Page } from "@playwright/test";
import { expect, expectAccessible, test } from "./fixture";
import { OIDC_ISSUER } from "./story";

const PASSWORD = "three quiet harbours";
const PERIOD_S = 30;

/** Return the code that an authenticator app shows for a secret in base 32, `nPeriods` later (RFC 6238). */
function codeOf(secret: string, nPeriods = 0): string {
  const bits = Array.from(secret.replace(/[\s=]/g, ""))
    .map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"))
    .join("");
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 1000 / PERIOD_S) + nPeriods));
  const digest = createHmac("sha1", key).update(counter).digest();
  const at = (digest.at(-1) ?? 0) & 0x0f;
  return String((digest.readUInt32BE(at) & 0x7f_ff_ff_ff) % 1_000_000).padStart(6, "0");
}

/** Open a page that nobody has logged in at. */
async function strangersPage(browser: Browser, baseURL: string | undefined): Promise<Page> {
  const context = await browser.newContext({
    ...(baseURL === undefined ? {} : { baseURL }),
    storageState: { cookies: [], origins: [] },
  });
  return context.newPage();
}

async function giveNameAndPassword(page: Page): Promise<void> {
  await page.goto("/hosts");
  await page.getByRole("textbox", { name: "Name" }).fill("ada");
  await page.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
}

test(
  "a second factor is set up, asked for, and replaced by a recovery code",
  { tag: "@matrix" },
  async ({ page, browser, baseURL }) => {
    const made = await page.request.post("/api/v1/users", {
      data: { name: "ada", password: PASSWORD, role: "viewer" },
      headers: { "X-Normstat-Request": "1" },
    });
    expect(made.ok()).toBe(true);
    const ada = await strangersPage(browser, baseURL);
    await giveNameAndPassword(ada);
    await expect(ada.getByRole("heading", { name: "Hosts" })).toBeVisible();
    await ada.goto("/accounts");
    await ada.getByRole("textbox", { name: "Password", exact: true }).fill(PASSWORD);
    await ada.getByRole("button", { name: "Set up…" }).click();
    await expect(ada.getByRole("img", { name: "QR code for the authenticator app" })).toBeVisible();
    await expectAccessible(ada);
    const secret = await ada
      .locator("pre")
      .filter({ hasText: /^[A-Z2-7 ]{16,}$/ })
      .innerText();
    await ada.getByLabel("2. Code that the app shows").fill(codeOf(secret));
    await ada.getByRole("button", { name: "Turn on" }).click();
    await expect(ada.getByText("Recovery codes (shown only once)")).toBeVisible();
    const codes = (await ada.getByRole("alert").locator("pre").innerText()).split("\n");
    await ada.getByRole("button", { name: "I have stored them" }).click();
    await expect(ada.getByText(`${codes.length.toString()} recovery codes are left`)).toBeVisible();
    await ada.context().close();

    // With the app: a wrong code is told, and one that was used opens nothing.
    const withApp = await strangersPage(browser, baseURL);
    await giveNameAndPassword(withApp);
    const code = withApp.getByRole("textbox", { name: "Code" });
    await expect(code).toBeFocused();
    await expect(withApp.getByRole("alert")).toBeHidden();
    await code.fill("000000");
    await withApp.getByRole("button", { name: "Log in", exact: true }).click();
    await expect(withApp.getByRole("alert")).toBeVisible();
    await code.fill(codeOf(secret, 1));
    await withApp.getByRole("button", { name: "Log in", exact: true }).click();
    await expect(withApp.getByRole("heading", { name: "Hosts" })).toBeVisible();
    await withApp.context().close();

    // Without the phone.
    const withoutPhone = await strangersPage(browser, baseURL);
    await giveNameAndPassword(withoutPhone);
    await withoutPhone.getByRole("textbox", { name: "Code" }).fill(codes[0] ?? "");
    await withoutPhone.getByRole("button", { name: "Log in", exact: true }).click();
    await expect(withoutPhone.getByRole("heading", { name: "Hosts" })).toBeVisible();
    await withoutPhone.goto("/accounts");
    await expect(withoutPhone.getByText(`${(codes.length - 1).toString()} recovery codes are left`)).toBeVisible();
    await withoutPhone.context().close();
  },
);

test("a login provider lets in whose groups have a role, and leads to the page asked for", async ({ browser, baseURL }) => {
  const guest = await strangersPage(browser, baseURL);
  // The provider's own page asks for a style sheet elsewhere.
  await guest.route(/jsdelivr/, (route) => route.abort());
  for (const [name, groups] of [
    ["olga", ["ops"]],
    ["otto", ["sales"]],
  ] as const) {
    const put = await guest.request.put(`${OIDC_ISSUER}/users/${name}`, {
      data: { preferred_username: name, email: `${name}@example.org`, groups },
    });
    expect(put.ok()).toBe(true);
  }
  await guest.goto("/events");
  await expectAccessible(guest);
  await guest.getByRole("link", { name: "Log in by Company" }).click();
  await guest.getByPlaceholder("sub").fill("otto");
  await guest.getByRole("button", { name: "Authorize" }).click();
  await expect(guest.getByRole("alert")).toBeVisible();
  await expect(guest.getByRole("button", { name: "Log in", exact: true })).toBeVisible();

  await guest.goto("/events");
  await guest.getByRole("link", { name: "Log in by Company" }).click();
  await guest.getByPlaceholder("sub").fill("olga");
  await guest.getByRole("button", { name: "Authorize" }).click();
  await expect(guest.getByRole("heading", { name: "Incidents" })).toBeVisible();
  await expect(guest).toHaveURL(/\/incidents\?show=event/);
  await guest.goto("/accounts");
  await expect(guest.getByText("has your password and second factor")).toBeVisible();
  await guest.getByRole("tab", { name: "Sessions" }).click();
  await expect(guest.getByText("by single sign-on")).toBeVisible();
  await expectAccessible(guest);
  await guest.context().close();
});
