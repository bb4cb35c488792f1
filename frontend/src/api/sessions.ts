/** Endpoints and queries of sessions: one's own (account null), or those of an account. */

import { queryOptions } from "@tanstack/react-query";
import type { SessionList } from "../logic/api";
import { answered, client } from "./client";

export function sessionsQuery(account: string | null) {
  return queryOptions({
    queryKey: ["sessions", account],
    queryFn: ({ signal }): Promise<SessionList> =>
      account === null
        ? answered(client.GET("/api/v1/auth/sessions", { signal }))
        : answered(client.GET("/api/v1/users/{name}/sessions", { signal, params: { path: { name: account } } })),
  });
}

/** End one session. */
export function endSession(account: string | null, id: number): Promise<unknown> {
  return account === null
    ? answered(client.DELETE("/api/v1/auth/sessions/{id}", { params: { path: { id } } }))
    : answered(client.DELETE("/api/v1/users/{name}/sessions/{id}", { params: { path: { name: account, id } } }));
}

/** End all sessions of the account; of one's own all but this one. */
export function endSessions(account: string | null): Promise<unknown> {
  return account === null
    ? answered(client.DELETE("/api/v1/auth/sessions"))
    : answered(client.DELETE("/api/v1/users/{name}/sessions", { params: { path: { name: account } } }));
}
