import { expect, test } from "vitest";
import type { ShareLinkInfo } from "./api";
import { linkLifetimes, openLinks, usualLifetime, utcMinute } from "./share_link";
import { fromApi } from "./time";

const DAY_S = 86_400;

test("a link lives no longer than the server allows", () => {
  expect(linkLifetimes(30)).toEqual([3600, DAY_S, 7 * DAY_S, 30 * DAY_S]);
  expect(linkLifetimes(0)).toEqual([]);
  expect([usualLifetime(30), usualLifetime(7), usualLifetime(3)]).toEqual([7 * DAY_S, 7 * DAY_S, DAY_S]);
});

test("links that ended are left out", () => {
  const link = (id: number, expires_at: string, revoked_at: string | null): ShareLinkInfo => ({
    id,
    comparison: 1,
    report: null,
    created_by: "kim",
    created_at: "2026-11-01T00:00:00Z",
    expires_at,
    revoked_at,
    n_opened: 0,
    last_opened_at: null,
  });
  const later = "2026-12-01T00:00:00Z";
  const links = [link(1, later, null), link(2, later, "2026-11-02T00:00:00Z"), link(3, "2026-11-28T12:00:00Z", null)];
  expect(openLinks(links, fromApi("2026-11-28T12:00:00Z")).map(({ id }) => id)).toEqual([1]);
});

test("an instant is shown in UTC", () => {
  expect(utcMinute("2026-12-05T10:00:59.123Z")).toBe("2026-12-05 10:00 UTC");
});
