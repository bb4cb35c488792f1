/** Queries of webhooks and of their deliveries. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { WebhookInfo, WebhookPut } from "../logic/api";
import { api } from "./client";

const REFRESH_MS = 10_000;

/** What shows webhooks or their deliveries. */
export const WEBHOOKS_KEY = ["webhooks"] as const;

export const webhooksQuery = queryOptions({
  queryKey: [...WEBHOOKS_KEY, "list"],
  queryFn: ({ signal }) => api.GET("/webhooks", { signal }),
  refetchInterval: REFRESH_MS,
});

/** The last deliveries of a webhook, the latest first. */
export function webhookDeliveriesQuery(id: number, limit: number) {
  return queryOptions({
    queryKey: [...WEBHOOKS_KEY, "deliveries", id, limit],
    queryFn: ({ signal }) => api.GET("/webhooks/{id}/deliveries", { signal, params: { path: { id }, query: { limit } } }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

/** Create a webhook, or change the one with this id. The answer has its signing key if that is new. */
export function saveWebhook(id: number | null, body: WebhookPut): Promise<WebhookInfo> {
  return id === null ? api.POST("/webhooks", { body }) : api.PUT("/webhooks/{id}", { body, params: { path: { id } } });
}
