import type { AlertInfo, ServiceInfo } from "../../logic/api";
import { expect, openPage, screen, test, waitFor, within } from "../../testing";
import { ADMIN, type FakeServer } from "../../testing/server";
import { madeWatch } from "../../testing/watch";

const AT = "2026-11-23T07:00:00Z";

const ALERT: AlertInfo = {
  id: 3,
  route_id: 1,
  route: "nights",
  state: "firing",
  colour: "red",
  title: "Slow disks",
  hosts: ["web1", "web2"],
  start: AT,
  opened_at: AT,
  due_at: AT,
  fired_at: AT,
  resolved_at: null,
  level: 0,
  acknowledged_at: null,
  acknowledged_by: "",
  note: "",
  silenced_at: null,
  n_episodes: 2,
  episodes: [],
  messages: [
    {
      id: 7,
      channel_id: 1,
      channel: "on call",
      kind: "fired",
      number: 1,
      state: "failed",
      subject: "web1: Slow disks",
      n_tries: 12,
      answer: "HTTP 403: no such channel",
      created_at: AT,
      next_try_at: null,
      sent_at: null,
    },
  ],
};

const PUSH: ServiceInfo = {
  name: "telegram",
  label: "Telegram",
  url: "https://api.telegram.org",
  key: { label: "Token of the bot", pattern: ".+", help: "the token that BotFather gave", is_optional: false },
  target: { label: "Chat", pattern: ".+", help: "the number of a chat", is_optional: false },
};

function answerNoChannels(server: FakeServer, alerts: AlertInfo[] = []): void {
  server.on("GET /watch", madeWatch());
  server.on("GET /alert-channels", { channels: [], scripts: [], services: [PUSH], n_waiting: 0, waiting_since: null });
  server.on("GET /alert-routes", { routes: [] });
  server.on("GET /alerts", { n_total: alerts.length, alerts });
}

test("without channels the tab says what to do first", async ({ server }) => {
  answerNoChannels(server);
  openPage("/rules?tab=alerts");
  expect((await screen.findByRole("note")).textContent).toContain("Add a channel and test it");
  screen.getByText(/No channels yet/);
  screen.getByRole("button", { name: "New channel" });
  expect(screen.queryByRole("button", { name: "New route" })).toBeNull();
});

test("a service brings its own fields", async ({ server }) => {
  answerNoChannels(server);
  server.fail("POST /alert-channels", 400, "bad_request", "This is not a valid token of the bot.", { key: null });
  const user = openPage("/rules?tab=alerts");
  await user.click(await screen.findByRole("button", { name: "New channel" }));
  const dialog = within(await screen.findByRole("dialog"));
  await user.type(dialog.getByLabelText(/^Name/), "on call");
  await user.click(dialog.getByRole("combobox", { name: "Kind" }));
  await user.click(await screen.findByRole("option", { name: "On call, push" }));
  await user.click(dialog.getByRole("combobox", { name: /^Service/ }));
  await user.click(await screen.findByRole("option", { name: "Telegram" }));
  await user.type(dialog.getByLabelText(/^Token of the bot/), "123:abc");
  await user.type(dialog.getByLabelText(/^Chat/), "-100");
  await user.click(dialog.getByRole("button", { name: "Save" }));
  await waitFor(() => {
    expect(server.asked("POST /alert-channels").map(({ body }) => body)).toEqual([
      {
        name: "on call",
        is_enabled: true,
        settings: { kind: "service", service: "telegram", url: "https://api.telegram.org", key: "123:abc", target: "-100" },
      },
    ]);
  });
  // At the field: a sentence below the form would have the number of the request beside it.
  await dialog.findByText("This is not a valid token of the bot.");
  expect(dialog.queryByText(/r-123/)).toBeNull();
});

test("a viewer sees channels without buttons", async ({ server }) => {
  answerNoChannels(server);
  server.on("GET /auth/me", { ...ADMIN, role: "viewer" });
  openPage("/rules?tab=alerts");
  await screen.findByRole("heading", { name: "Channels" });
  expect(screen.queryByRole("button", { name: /^New (channel|route)/ })).toBeNull();
});

test("a failed message shows the receiver's answer and can be sent again", async ({ server }) => {
  answerNoChannels(server, [ALERT]);
  server.on("POST /alert-messages/{id}/retry", ALERT);
  const user = openPage("/rules?tab=alerts");
  const row = within(await screen.findByRole("table", { name: "Sent" })).getByRole("row", { name: /Slow disks/ });
  expect(row.textContent).toContain("began → on call: failed (12 attempts)");
  expect(row.textContent).toContain("HTTP 403: no such channel");
  expect(row.textContent).toContain("web1 and 1 more");
  await user.click(within(row).getByRole("button", { name: "Send again to on call" }));
  await waitFor(() => {
    expect(server.asked("POST /alert-messages/{id}/retry").map(({ path }) => path)).toEqual(["/api/v1/alert-messages/7/retry"]);
  });
});

test("the link to an unknown alert says so", async ({ server }) => {
  server.on("GET /watch", madeWatch());
  server.on("GET /rules", { rules: [] });
  server.fail("GET /alerts/{id}", 404, "not_found", "no alert 999999999");
  openPage("/rules?tab=alerts&alert=999999999");
  await screen.findByText(/There is no alert 999999999/);
});
