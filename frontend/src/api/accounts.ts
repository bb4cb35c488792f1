/** Queries of accounts: users, tokens, sessions (account null: one's own), the second factor, and how one can log in. */

import { queryOptions } from "@tanstack/react-query";
import { addressOf, api } from "./client";

export const usersQuery = queryOptions({ queryKey: ["users"], queryFn: ({ signal }) => api.GET("/users", { signal }) });

export const apiTokensQuery = queryOptions({
  queryKey: ["api-tokens"],
  queryFn: ({ signal }) => api.GET("/api-tokens", { signal }),
});

export const joinTokensQuery = queryOptions({
  queryKey: ["join-tokens"],
  queryFn: ({ signal }) => api.GET("/join-tokens", { signal }),
});

export const agentTokensQuery = queryOptions({
  queryKey: ["agent-tokens"],
  queryFn: ({ signal }) => api.GET("/agent-tokens", { signal }),
});

export const secondFactorQuery = queryOptions({
  queryKey: ["second-factor"],
  queryFn: ({ signal }) => api.GET("/auth/second-factor", { signal }),
});

export function sessionsQuery(account: string | null) {
  return queryOptions({
    queryKey: ["sessions", account],
    queryFn: ({ signal }) =>
      account === null
        ? api.GET("/auth/sessions", { signal })
        : api.GET("/users/{name}/sessions", { signal, params: { path: { name: account } } }),
  });
}

/** End one session. */
export function endSession(account: string | null, id: number): Promise<unknown> {
  return account === null
    ? api.DELETE("/auth/sessions/{id}", { params: { path: { id } } })
    : api.DELETE("/users/{name}/sessions/{id}", { params: { path: { name: account, id } } });
}

/** End all sessions of the account; of one's own all but this one. */
export function endSessions(account: string | null): Promise<unknown> {
  return account === null
    ? api.DELETE("/auth/sessions")
    : api.DELETE("/users/{name}/sessions", { params: { path: { name: account } } });
}

export const loginMethodsQuery = queryOptions({
  queryKey: ["login-methods"],
  queryFn: ({ signal }) => api.GET("/auth/methods", { signal }),
  staleTime: Infinity,
});

/** Return the address that sends the browser to the login provider, and back to `next`. */
export function providerLoginAddress(next: string): string {
  return addressOf("/auth/oidc/login", { next });
}
