/** Endpoints and queries of share links. */

import { queryOptions } from "@tanstack/react-query";
import type { NewShareLink, SharedContent, ShareLinkList } from "../logic/api";
import type { SharedSubject } from "../logic/share_link";
import { answered, client } from "./client";

export const shareLinksQuery = (of: SharedSubject) =>
  queryOptions({
    queryKey: ["share-links", of],
    queryFn: ({ signal }): Promise<ShareLinkList> =>
      answered(client.GET("/api/v1/share-links", { params: { query: of }, signal })),
  });

export function createShareLink(of: SharedSubject, lifetimeS: number): Promise<NewShareLink> {
  return answered(client.POST("/api/v1/share-links", { body: { ...of, lifetime_s: lifetimeS } }));
}

export function revokeShareLink(id: number): Promise<unknown> {
  return answered(client.DELETE("/api/v1/share-links/{id}", { params: { path: { id } } }));
}

/** Return what a link shows; no login is needed. */
export function openShareLink(token: string): Promise<SharedContent> {
  return answered(client.POST("/api/v1/share-links/open", { body: { token } }));
}
