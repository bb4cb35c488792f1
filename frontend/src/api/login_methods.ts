/** How one can log in besides a password, and log out. */

import { queryOptions } from "@tanstack/react-query";
import type { LoggedOut, LoginMethods } from "../logic/api";
import { addressOf, answered, client } from "./client";

export const loginMethodsQuery = queryOptions({
  queryKey: ["login-methods"],
  queryFn: ({ signal }): Promise<LoginMethods> => answered(client.GET("/api/v1/auth/methods", { signal })),
  staleTime: Infinity,
});

export function logOut(): Promise<LoggedOut> {
  return answered(client.POST("/api/v1/auth/logout"));
}

/** Return the address that sends the browser to the login provider, and back to `next`. */
export function providerLoginAddress(next: string): string {
  return addressOf("/auth/oidc/login", { next });
}
