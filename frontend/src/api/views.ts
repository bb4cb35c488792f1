/** Endpoints and queries for saved views. */

import { queryOptions } from "@tanstack/react-query";
import type { ViewCreate, ViewInfo, ViewList, ViewUpdate } from "../logic/api";
import { answered, client } from "./client";

export const viewsQuery = queryOptions({
  queryKey: ["views"],
  queryFn: ({ signal }): Promise<ViewList> => answered(client.GET("/api/v1/views", { signal })),
  staleTime: 30_000,
});

export function createView(body: ViewCreate): Promise<ViewInfo> {
  return answered(client.POST("/api/v1/views", { body }));
}

export function updateView(key: string, body: ViewUpdate): Promise<ViewInfo> {
  return answered(client.PATCH("/api/v1/views/{key}", { body, params: { path: { key } } }));
}

export function deleteView(key: string): Promise<unknown> {
  return answered(client.DELETE("/api/v1/views/{key}", { params: { path: { key } } }));
}

export function starView(key: string, is_starred: boolean): Promise<unknown> {
  return answered(client.PUT("/api/v1/views/{key}/star", { body: { is_starred }, params: { path: { key } } }));
}
