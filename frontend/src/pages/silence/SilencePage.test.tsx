import { address, expect, openPage, screen, test } from "../../testing";

test("the silence link of a message asks before it mutes, without a login", async ({ server }) => {
  server.fail("GET /auth/me", 401, "not_authenticated", "log in first");
  server.on("POST /alert-silences/check", {
    alert_id: 3,
    route: "nights",
    state: "firing",
    places: [{ host: "web1", source: "disk-slow" }],
    is_used: false,
  });
  server.on("POST /alert-silences", { mutes: [] });
  const user = openPage("/silence#token=3.abc");
  await screen.findByText(/disk-slow on web1/);
  expect(window.location.href).not.toContain("token");
  expect(server.asked("POST /alert-silences")).toEqual([]);
  await user.type(screen.getByRole("textbox", { name: "Reason" }), "known");
  await user.click(screen.getByRole("button", { name: "Mute" }));
  await screen.findByText(/It is muted\./);
  expect(server.asked("POST /alert-silences").map(({ body }) => body)).toEqual([
    { token: "3.abc", minutes: 60, reason: "known" },
  ]);
});

test("a silence link without its token is explained", async ({ server }) => {
  openPage("/silence");
  await screen.findByText(/This address is not complete/);
  expect(address()).toBe("/silence");
  expect(server.asked("POST /alert-silences/check")).toEqual([]);
});

test("a silence link that is not valid is refused", async ({ server }) => {
  server.fail("POST /alert-silences/check", 401, "not_authenticated", "This link is not valid");
  openPage("/silence#token=1.nonsense");
  expect((await screen.findByRole("alert")).textContent).toContain("This link is not valid");
});
