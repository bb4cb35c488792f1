import type { WebhookDelivery, WebhookInfo, WebhookList } from "../../logic/api";
import { expect, openPage, screen, test, waitFor, within } from "../../testing";
import { ADMIN } from "../../testing/server";
import { madeWatch } from "../../testing/watch";

const AT = "2026-11-23T07:00:00Z";
const TOPICS: WebhookList["topics"] = ["event.created", "event.changed", "event.deleted"];
const WEBHOOK: WebhookInfo = {
  id: 3,
  name: "deploy bot",
  endpoint: "https://bot.example.org",
  signing_key: null,
  topics: ["event.created"],
  is_enabled: true,
  created_by: "ann",
  created_at: AT,
  updated_by: "ann",
  updated_at: AT,
  held_until: null,
  n_unsent: 0,
  n_failed: 1,
};
const DELIVERY: WebhookDelivery = {
  id: 7,
  key: "5f0c6a39-8a5e-4c0c-8f5e-0f7d4f2f6a52",
  topic: "event.created",
  state: "failed",
  n_tries: 12,
  created_at: AT,
  next_try_at: AT,
  sent_at: null,
  answer: "HTTP 403: no such bot",
};

test("a failed delivery shows the receiver's answer and can be sent again", async ({ server }) => {
  server.on("GET /watch", madeWatch());
  server.on("GET /webhooks", { webhooks: [WEBHOOK], topics: TOPICS });
  server.on("GET /webhooks/{id}/deliveries", { deliveries: [DELIVERY] });
  server.on("POST /webhook-deliveries/{id}/retry", { ...DELIVERY, state: "queued", n_tries: 0 });
  const user = openPage("/rules?tab=webhooks&webhook=3");
  const deliveries = await screen.findByRole("table", { name: "Last deliveries" });
  expect(screen.getByRole("table", { name: "deploy bot" }).textContent).toContain("1 message failed");
  expect(deliveries.textContent).toContain("failed (12 attempts)");
  expect(deliveries.textContent).toContain("HTTP 403: no such bot");
  await user.click(within(deliveries).getByRole("button", { name: "Send again: delivery 7" }));
  await waitFor(() => {
    expect(server.asked("POST /webhook-deliveries/{id}/retry").map(({ path }) => path)).toEqual([
      "/api/v1/webhook-deliveries/7/retry",
    ]);
  });
});

test("the link to an unknown webhook says so", async ({ server }) => {
  server.on("GET /watch", madeWatch());
  server.on("GET /webhooks", { webhooks: [WEBHOOK], topics: TOPICS });
  openPage("/rules?tab=webhooks&webhook=4");
  await screen.findByText(/There is no webhook 4/);
});

test("a viewer reads what webhooks are for, and has no buttons", async ({ server }) => {
  server.on("GET /auth/me", { ...ADMIN, role: "viewer" });
  server.on("GET /watch", madeWatch());
  server.on("GET /webhooks", { webhooks: [], topics: TOPICS });
  openPage("/rules?tab=webhooks");
  await screen.findByText(/No webhooks yet/);
  screen.getByText(/An administrator can add one\./);
  expect(screen.getByRole("link", { name: "Webhooks" }).getAttribute("href")).toBe("/docs/alerts#webhooks-of-changes");
  expect(screen.queryByRole("button", { name: "New webhook" })).toBeNull();
});
