import type { UserEvent } from "@testing-library/user-event";
import { expect, openPage, screen, test, waitFor } from "../testing";
import type { FakeServer } from "../testing/server";

interface NewAccount {
  readonly user: UserEvent;
  readonly name: HTMLInputElement;
  readonly password: HTMLInputElement;
  readonly create: HTMLElement;
}

/** The form of a new account, with a good password in it. */
async function openForm(server: FakeServer): Promise<NewAccount> {
  server.on("GET /users", { users: [] });
  const user = openPage("/accounts?tab=users");
  const name = await screen.findByLabelText<HTMLInputElement>(/^New account/);
  const password = screen.getByLabelText<HTMLInputElement>(/^Initial password/);
  await user.type(password, "seven yellow trams");
  return { user, name, password, create: screen.getByRole("button", { name: "Create account" }) };
}

test("what the server says of a member stands at its field until that is changed", async ({ server }) => {
  server.fail("POST /users", 409, "conflict", "Account 'guest' already exists", { name: "guest" });
  const { user, name, password, create } = await openForm(server);
  await user.type(name, "guest");
  await user.click(create);
  const problem = await screen.findByText("Account 'guest' already exists");
  expect(name.getAttribute("aria-invalid")).toBe("true");
  expect(name.getAttribute("aria-describedby")).toContain(problem.id);
  expect(password.getAttribute("aria-invalid")).not.toBe("true");
  expect(screen.queryByRole("alert")).toBeNull();
  await user.type(name, "2");
  expect(screen.queryByText("Account 'guest' already exists")).toBeNull();
});

test("each problem of the request's shape stands at its field, what is about none in the form's line", async ({ server }) => {
  const problems = ["body.name: String should have at most 200 characters", "body.role: Input should be 'viewer'"];
  server.fail("POST /users", 422, "invalid_request", "The request does not have the documented shape", { problems });
  const { user, name, create } = await openForm(server);
  await user.type(name, "guest");
  await user.click(create);
  await screen.findByText("String should have at most 200 characters");
  await screen.findByText("Input should be 'viewer'");
  expect(screen.queryByRole("alert")).toBeNull();
  server.fail("POST /users", 503, "overloaded", "Too many requests wait");
  await user.click(create);
  expect((await screen.findByRole("alert")).textContent).toContain("Too many requests wait (overloaded, request r-123)");
});

test("nothing is sent while a field is wrong, and the first wrong one is focused", async ({ server }) => {
  const { user, name, create } = await openForm(server);
  await user.type(name, "  ");
  await user.click(create);
  await screen.findByText("Enter a name");
  expect(document.activeElement).toBe(name);
  expect(server.asked("POST /users")).toEqual([]);
});

test("a form that is sent begins again, and its list is asked for", async ({ server }) => {
  server.on("POST /users", {
    name: "guest",
    role: "viewer",
    has_password: true,
    has_second_factor: false,
    is_disabled: false,
    host_groups: null,
    created_at: "2026-11-23T07:00:00Z",
  });
  const { user, name, password, create } = await openForm(server);
  await user.type(name, "guest");
  const n = server.asked("GET /users").length;
  await user.click(create);
  await waitFor(() => {
    expect(server.asked("POST /users").map(({ body }) => body)).toEqual([
      { name: "guest", password: "seven yellow trams", role: "viewer" },
    ]);
    expect(server.asked("GET /users").length).toBe(n + 1);
    expect([name.value, password.value]).toEqual(["", ""]);
  });
});
