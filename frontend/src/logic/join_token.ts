import type { JoinTokenInfo } from "./api";
import { type EpochMs, fromApi } from "./time";

/** For how long hosts can enrol, in seconds: an hour, a working day, a day, a week. */
export const LIFETIMES = [3600, 8 * 3600, 86_400, 7 * 86_400] as const;
export const MAX_USES = 10_000;

export type JoinTokenState = "usable" | "used_up" | "expired" | "revoked";

/** Return whether one token can enrol this number of hosts. */
export function isHostCount(value: number | string): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= MAX_USES;
}

/** Return whether hosts can enrol with the token now, or why not. */
export function joinTokenState(token: JoinTokenInfo, now: EpochMs): JoinTokenState {
  if (token.revoked_at !== null) return "revoked";
  if (fromApi(token.expires_at) <= now) return "expired";
  return token.n_uses >= token.max_uses ? "used_up" : "usable";
}
