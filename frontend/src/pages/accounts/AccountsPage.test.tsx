import { openPage, screen, test } from "../../testing";

test("a password that the server refuses is explained, a short one before it is sent", async ({ server }) => {
  server.on("GET /users", { users: [] });
  server.fail("POST /users", 400, "bad_request", "This password contains the account's name");
  const user = openPage("/accounts?tab=users");
  await user.type(await screen.findByLabelText(/^New account/), "guest");
  const password = screen.getByLabelText(/^Initial password/);
  await user.type(password, "short");
  await user.tab();
  await screen.findByText(/at least 10 characters/);
  await user.clear(password);
  await user.type(password, "guest guest guest");
  await user.click(screen.getByRole("button", { name: "Create account" }));
  await screen.findByText(/contains the account's name/);
});
