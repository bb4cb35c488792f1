import { expect, expectAccessible, test } from "./fixture";
import { HOST, LOGIN_LINK } from "./story";

test.use({ storageState: { cookies: [], origins: [] }, expectedErrors: /status of 40[139]/ });

test("a used link says so and offers the login", async ({ page }) => {
  await page.goto(LOGIN_LINK);
  await expect(page.getByText("This login link has expired or was already used")).toBeVisible();
  await expect(page.getByText("normstat login-link").first()).toBeVisible();
  expect(page.url()).not.toContain("token");
  await expectAccessible(page);
});

test("name and password lead to the requested page", async ({ page }) => {
  await page.goto(`/hosts/${HOST}?last=1h&tab=streams`);
  await expect(page.getByRole("textbox", { name: "Name" })).toBeVisible();
  await page.getByRole("textbox", { name: "Name" }).fill("admin");
  await page.getByRole("textbox", { name: "Password" }).fill("wrong password");
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("alert")).toBeVisible();
  await page.getByRole("textbox", { name: "Password" }).fill("correct horse battery");
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("table", { name: "Streams" })).toBeVisible();
  expect(page.url()).toContain("last=1h&tab=streams");
});
