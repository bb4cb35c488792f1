/** Endpoints and queries of the second factor of one's own account; administrators reset those of others. */

import { queryOptions } from "@tanstack/react-query";
import type { RecoveryCodes, SecondFactorSetup, SecondFactorState } from "../logic/api";
import { answered, client } from "./client";

export const secondFactorQuery = queryOptions({
  queryKey: ["second-factor"],
  queryFn: ({ signal }): Promise<SecondFactorState> => answered(client.GET("/api/v1/auth/second-factor", { signal })),
});

export function beginSecondFactor(password: string | null): Promise<SecondFactorSetup> {
  return answered(client.POST("/api/v1/auth/second-factor", { body: { password } }));
}

export function confirmSecondFactor(code: string): Promise<RecoveryCodes> {
  return answered(client.POST("/api/v1/auth/second-factor/confirmation", { body: { code } }));
}

export function renewRecoveryCodes(code: string): Promise<RecoveryCodes> {
  return answered(client.POST("/api/v1/auth/second-factor/recovery-codes", { body: { code } }));
}

export function removeSecondFactor(code: string): Promise<unknown> {
  return answered(client.POST("/api/v1/auth/second-factor/removal", { body: { code } }));
}

export function resetSecondFactor(account: string): Promise<unknown> {
  return answered(client.DELETE("/api/v1/users/{name}/second-factor", { params: { path: { name: account } } }));
}
