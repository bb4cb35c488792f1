/** Queries of alerts: channels, routes, what was sent, and the links that silence. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { AlertChannelInfo, AlertChannelPut, AlertRouteInfo, AlertRoutePut } from "../logic/api";
import { api } from "./client";

const REFRESH_MS = 10_000;

export const channelsQuery = queryOptions({
  queryKey: ["alerts", "channels"],
  queryFn: ({ signal }) => api.GET("/alert-channels", { signal }),
});

export const routesQuery = queryOptions({
  queryKey: ["alerts", "routes"],
  queryFn: ({ signal }) => api.GET("/alert-routes", { signal }),
});

/** The latest alerts with their messages. */
export function alertsQuery(limit: number) {
  return queryOptions({
    queryKey: ["alerts", "list", limit],
    queryFn: ({ signal }) => api.GET("/alerts", { signal, params: { query: { limit } } }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

/** An alert with its messages and its first episodes. */
export function alertQuery(id: number) {
  return queryOptions({
    queryKey: ["alerts", "one", id],
    queryFn: ({ signal }) => api.GET("/alerts/{id}", { signal, params: { path: { id } } }),
    refetchInterval: REFRESH_MS,
  });
}

/** Create a channel, or change the one with this id. */
export function saveChannel(id: number | null, body: AlertChannelPut): Promise<AlertChannelInfo> {
  return id === null
    ? api.POST("/alert-channels", { body })
    : api.PUT("/alert-channels/{id}", { body, params: { path: { id } } });
}

/** Create a route, or change the one with this id. */
export function saveRoute(id: number | null, body: AlertRoutePut): Promise<AlertRouteInfo> {
  return id === null ? api.POST("/alert-routes", { body }) : api.PUT("/alert-routes/{id}", { body, params: { path: { id } } });
}
