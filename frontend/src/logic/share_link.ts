import type { ShareLinkInfo } from "./api";
import { type EpochMs, fromApi, toIso } from "./time";

/** What is shared: a saved comparison or a report. */
export type SharedSubject = { readonly comparison: number } | { readonly report: number };

const DAY_S = 86_400;
const LIFETIMES_S = [3600, DAY_S, 7 * DAY_S, 30 * DAY_S, 90 * DAY_S, 365 * DAY_S] as const;

/** Return the lives that a link may have on a server with this maximum of days, in seconds. */
export function linkLifetimes(maxDays: number): readonly number[] {
  return LIFETIMES_S.filter((seconds) => seconds <= maxDays * DAY_S);
}

/** Return the life to begin with: a week, or the longest that is allowed. */
export function usualLifetime(maxDays: number): number {
  const allowed = linkLifetimes(maxDays);
  return allowed.includes(7 * DAY_S) ? 7 * DAY_S : (allowed.at(-1) ?? 3600);
}

/** Return the links that can be opened now. */
export function openLinks(links: readonly ShareLinkInfo[], now: EpochMs): readonly ShareLinkInfo[] {
  return links.filter((link) => link.revoked_at === null && fromApi(link.expires_at) > now);
}

/** Return an instant for a reader whose time zone is unknown: `2026-12-05 10:00 UTC`. */
export function utcMinute(text: string): string {
  return `${toIso(fromApi(text)).slice(0, 16).replace("T", " ")} UTC`;
}
