/** Endpoints of how hosts get their tokens: join tokens, and rotation. */

import type { JoinTokenCreate, JoinTokenList, NewJoinToken } from "../logic/api";
import { answered, client } from "./client";

export function listJoinTokens(options: { readonly signal: AbortSignal }): Promise<JoinTokenList> {
  return answered(client.GET("/api/v1/join-tokens", options));
}

export function createJoinToken(body: JoinTokenCreate): Promise<NewJoinToken> {
  return answered(client.POST("/api/v1/join-tokens", { body }));
}

export function revokeJoinToken(id: number): Promise<unknown> {
  return answered(client.DELETE("/api/v1/join-tokens/{id}", { params: { path: { id } } }));
}

/** Let the agent take a new token; the old one stays valid until the new one is used. */
export function rotateAgentToken(id: number): Promise<unknown> {
  return answered(client.POST("/api/v1/agent-tokens/{id}/rotation", { params: { path: { id } }, body: {} }));
}
