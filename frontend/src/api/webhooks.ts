/** Endpoints and queries of webhooks: who is told of changes, and what was sent. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { WebhookDelivery, WebhookDeliveryList, WebhookInfo, WebhookList, WebhookPut, WebhookTest } from "../logic/api";
import { answered, client } from "./client";

const REFRESH_MS = 10_000;

/** What shows webhooks or their deliveries. */
export const WEBHOOKS_KEY = ["webhooks"] as const;

export const webhooksQuery = queryOptions({
  queryKey: [...WEBHOOKS_KEY, "list"],
  queryFn: ({ signal }): Promise<WebhookList> => answered(client.GET("/api/v1/webhooks", { signal })),
  refetchInterval: REFRESH_MS,
});

/** The last deliveries of a webhook, the latest first. */
export function webhookDeliveriesQuery(id: number, limit: number) {
  return queryOptions({
    queryKey: [...WEBHOOKS_KEY, "deliveries", id, limit],
    queryFn: ({ signal }): Promise<WebhookDeliveryList> =>
      answered(client.GET("/api/v1/webhooks/{id}/deliveries", { signal, params: { path: { id }, query: { limit } } })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

/** Create a webhook, or change the one with this id. The answer has its signing key if that is new. */
export function saveWebhook(id: number | null, body: WebhookPut): Promise<WebhookInfo> {
  return id === null
    ? answered(client.POST("/api/v1/webhooks", { body }))
    : answered(client.PUT("/api/v1/webhooks/{id}", { body, params: { path: { id } } }));
}

export function deleteWebhook(id: number): Promise<unknown> {
  return answered(client.DELETE("/api/v1/webhooks/{id}", { params: { path: { id } } }));
}

/** Send a test message; it takes up to 30 seconds. */
export function testWebhook(id: number): Promise<WebhookTest> {
  return answered(client.POST("/api/v1/webhooks/{id}/test", { params: { path: { id } } }));
}

/** Send a delivery again that was given up. */
export function retryWebhookDelivery(id: number): Promise<WebhookDelivery> {
  return answered(client.POST("/api/v1/webhook-deliveries/{id}/retry", { params: { path: { id } } }));
}
