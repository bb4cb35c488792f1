/** Rules of accounts that the page can tell before the server does. */

import type { Role, TokenInfo } from "./api";

export const ROLES: readonly Role[] = ["viewer", "operator", "administrator"];

export const ROLE_HELP: Readonly<Record<Role, string>> = {
  viewer: "sees everything",
  operator: "also marks baselines",
  administrator: "also manages accounts and tokens",
};

/** As the server has it; what else makes a password weak (common ones, the account's name) the server says. */
const MIN_PASSWORD_LENGTH = 10;

export const PASSWORD_HELP = "A few words that do not belong together; not the account's name, not a common password.";

export interface PasswordProblem {
  readonly next: string | null;
  readonly again: string | null;
}

/** What is wrong with a new password and its repetition; null where nothing is. */
export function newPasswordProblem(next: string, again: string): PasswordProblem {
  return {
    next: Array.from(next.trim()).length < MIN_PASSWORD_LENGTH ? `at least ${String(MIN_PASSWORD_LENGTH)} characters` : null,
    again: again === next ? null : "not the same",
  };
}

/** The roles that somebody may give to a token: their own and those below. */
export function rolesUpTo(role: Role): readonly Role[] {
  return ROLES.slice(0, ROLES.indexOf(role) + 1);
}

/** Tokens that work before those that were revoked, each the newest first. */
export function sortTokens(tokens: readonly TokenInfo[]): readonly TokenInfo[] {
  return [...tokens].sort(
    (a, b) => Number(a.revoked_at !== null) - Number(b.revoked_at !== null) || b.created_at.localeCompare(a.created_at),
  );
}
