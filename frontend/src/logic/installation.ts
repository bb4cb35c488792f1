/** The checks of an installation: what is wrong comes first. */

import type { InstallationCheck } from "./api";

export type CheckStatus = InstallationCheck["status"];

/** From what is worst to what is good. */
export const CHECK_ORDER: readonly CheckStatus[] = ["error", "warning", "not_checked", "ok"];

/** The checks, the worst first; those of one status as the server sent them. */
export function worstFirst(checks: readonly InstallationCheck[]): InstallationCheck[] {
  return CHECK_ORDER.flatMap((status) => checks.filter((check) => check.status === status));
}
