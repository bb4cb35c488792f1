import { expect, test } from "vitest";
import type { JoinTokenInfo } from "./api";
import { isHostCount, joinTokenState } from "./join_token";
import { fromApi } from "./time";

const TOKEN: JoinTokenInfo = {
  id: 1,
  name: "web servers",
  host_pattern: "web*",
  tags: [],
  allows_takeover: false,
  max_uses: 2,
  n_uses: 1,
  created_by: "ann",
  created_at: "2026-11-28T10:00:00Z",
  expires_at: "2026-11-28T11:00:00Z",
  revoked_at: null,
  hosts: [],
};

test("a join token is usable until it is revoked, expired or used up", () => {
  const before = fromApi("2026-11-28T10:59:59Z");
  expect(joinTokenState(TOKEN, before)).toBe("usable");
  expect(joinTokenState({ ...TOKEN, n_uses: 2 }, before)).toBe("used_up");
  expect(joinTokenState(TOKEN, fromApi("2026-11-28T11:00:00Z"))).toBe("expired");
  expect(joinTokenState({ ...TOKEN, revoked_at: "2026-11-28T10:30:00Z" }, before)).toBe("revoked");
});

test("a number of hosts is a whole one within the limit", () => {
  expect([1, 10_000].every(isHostCount)).toBe(true);
  expect([0, 10_001, 1.5, "", "50"].some(isHostCount)).toBe(false);
});
