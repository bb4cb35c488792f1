/** Account rules that the page checks before the server does. */

import type { Role, TokenInfo } from "./api";
import { type EpochMs, fromApi } from "./time";

export const ROLES: readonly Role[] = ["viewer", "operator", "administrator"];

export const ROLE_LABELS: Readonly<Record<Role, string>> = {
  viewer: "viewer",
  operator: "operator",
  administrator: "administrator",
};

/** Return roles as options of a menu. */
export function roleOptions(roles: readonly Role[]): { value: Role; label: string }[] {
  return roles.map((role) => ({ value: role, label: ROLE_LABELS[role] }));
}

export const ROLE_HELP: Readonly<Record<Role, string>> = {
  viewer: "can view everything",
  operator: "can also create baselines, import files and reparse streams",
  administrator: "can also manage accounts, tokens, add-ons and storage",
};

/** The server's minimum; only the server checks for common passwords and the account's name. */
const MIN_PASSWORD_LENGTH = 10;

export const PASSWORD_HELP = "Use a few unrelated words, not the account's name or a common password.";

/** Return the problem of a new password; null if it is fine, or not typed yet. */
export function passwordProblem(password: string): string | null {
  return password !== "" && Array.from(password.trim()).length < MIN_PASSWORD_LENGTH
    ? `at least ${String(MIN_PASSWORD_LENGTH)} characters`
    : null;
}

/** Return the roles that a user may give to a token: the user's own and those below. */
export function rolesUpTo(role: Role): readonly Role[] {
  return ROLES.slice(0, ROLES.indexOf(role) + 1);
}

/** Return active tokens before revoked ones, each newest first. */
export function sortTokens(tokens: readonly TokenInfo[]): readonly TokenInfo[] {
  return [...tokens].sort(
    (a, b) => Number(a.revoked_at !== null) - Number(b.revoked_at !== null) || b.created_at.localeCompare(a.created_at),
  );
}

export type TokenState = "active" | "rotating" | "expired" | "revoked";

/** Return whether the token works now; rotating: it does until its agent uses the new one. */
export function tokenState(token: TokenInfo, now: EpochMs): TokenState {
  if (token.revoked_at !== null) return "revoked";
  if (token.expires_at !== null && fromApi(token.expires_at) <= now) return "expired";
  return token.is_rotating ? "rotating" : "active";
}
