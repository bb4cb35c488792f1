/** Endpoints and queries of alerts: channels, routes, what was sent, and the links that silence. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type {
  AlertChannelInfo,
  AlertChannelList,
  AlertChannelPut,
  AlertInfo,
  AlertPage,
  AlertRouteInfo,
  AlertRouteList,
  AlertRoutePut,
  ChannelTestResult,
  RouteTrialResult,
  RouteTry,
  SilenceOffer,
  SilenceResult,
} from "../logic/api";
import { answered, client } from "./client";

const REFRESH_MS = 10_000;

export const channelsQuery = queryOptions({
  queryKey: ["alerts", "channels"],
  queryFn: ({ signal }): Promise<AlertChannelList> => answered(client.GET("/api/v1/alert-channels", { signal })),
});

export const routesQuery = queryOptions({
  queryKey: ["alerts", "routes"],
  queryFn: ({ signal }): Promise<AlertRouteList> => answered(client.GET("/api/v1/alert-routes", { signal })),
});

/** The latest alerts with their messages. */
export function alertsQuery(limit: number) {
  return queryOptions({
    queryKey: ["alerts", "list", limit],
    queryFn: ({ signal }): Promise<AlertPage> => answered(client.GET("/api/v1/alerts", { signal, params: { query: { limit } } })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

/** An alert with its messages and its first episodes. */
export function alertQuery(id: number) {
  return queryOptions({
    queryKey: ["alerts", "one", id],
    queryFn: ({ signal }): Promise<AlertInfo> =>
      answered(client.GET("/api/v1/alerts/{id}", { signal, params: { path: { id } } })),
    refetchInterval: REFRESH_MS,
  });
}

/** Create a channel, or change the one with this id. */
export function saveChannel(id: number | null, body: AlertChannelPut): Promise<AlertChannelInfo> {
  return id === null
    ? answered(client.POST("/api/v1/alert-channels", { body }))
    : answered(client.PUT("/api/v1/alert-channels/{id}", { body, params: { path: { id } } }));
}

export function deleteChannel(id: number): Promise<unknown> {
  return answered(client.DELETE("/api/v1/alert-channels/{id}", { params: { path: { id } } }));
}

export function testChannel(id: number): Promise<ChannelTestResult> {
  return answered(client.POST("/api/v1/alert-channels/{id}/test", { params: { path: { id } } }));
}

/** Create a route, or change the one with this id. */
export function saveRoute(id: number | null, body: AlertRoutePut): Promise<AlertRouteInfo> {
  return id === null
    ? answered(client.POST("/api/v1/alert-routes", { body }))
    : answered(client.PUT("/api/v1/alert-routes/{id}", { body, params: { path: { id } } }));
}

export function deleteRoute(id: number): Promise<unknown> {
  return answered(client.DELETE("/api/v1/alert-routes/{id}", { params: { path: { id } } }));
}

export function orderRoutes(ids: number[]): Promise<AlertRouteList> {
  return answered(client.PUT("/api/v1/alert-routes/order", { body: { ids } }));
}

export function tryRoute(body: RouteTry): Promise<RouteTrialResult> {
  return answered(client.POST("/api/v1/alert-routes/try", { body }));
}

export function acknowledgeAlert(id: number): Promise<AlertInfo> {
  return answered(client.POST("/api/v1/alerts/{id}/acknowledge", { body: { note: "" }, params: { path: { id } } }));
}

export function takeBackAlert(id: number): Promise<AlertInfo> {
  return answered(client.DELETE("/api/v1/alerts/{id}/acknowledge", { params: { path: { id } } }));
}

export function retryMessage(id: number): Promise<AlertInfo> {
  return answered(client.POST("/api/v1/alert-messages/{id}/retry", { params: { path: { id } } }));
}

/** Ask what a silence link would mute; nothing is muted by that. */
export function checkSilence(token: string): Promise<SilenceOffer> {
  return answered(client.POST("/api/v1/alert-silences/check", { body: { token } }));
}

export function muteBySilenceLink(token: string, minutes: number, reason: string): Promise<SilenceResult> {
  return answered(client.POST("/api/v1/alert-silences", { body: { token, minutes, reason } }));
}
