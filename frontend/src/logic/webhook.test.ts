import { describe, expect, test } from "vitest";
import type { Topic } from "./api";
import { fromApi } from "./time";
import { canRetry, describeTopics, describeWaiting, heldUntil, TOPIC_WORDS, toWebhookForm, toWebhookPut } from "./webhook";

const OFFERED: readonly Topic[] = ["event.created", "event.changed", "baseline.changed"];

describe("a webhook as a form", () => {
  test("keeps its URL and its key unless others are wished", () => {
    const form = toWebhookForm({ name: "bot", topics: ["baseline.changed"], is_enabled: false });
    const kept = { name: "bot", url: null, topics: ["baseline.changed"], is_enabled: false, renews_key: false };
    expect(toWebhookPut(form, OFFERED)).toEqual(kept);
    expect(toWebhookPut({ ...form, url: " " }, OFFERED)).toEqual(kept);
    expect(toWebhookPut({ ...form, url: " https://x/y ", renews_key: true }, OFFERED)).toEqual({
      ...kept,
      url: "https://x/y",
      renews_key: true,
    });
  });

  test("receives nothing and is sent as a new one", () => {
    expect(toWebhookPut({ ...toWebhookForm(null), name: " bot " }, OFFERED)).toEqual({
      name: "bot",
      url: null,
      topics: [],
      is_enabled: true,
      renews_key: false,
    });
  });

  test("has its topics in the order of the offer, whatever was ticked first", () => {
    const form = toWebhookForm({ name: "bot", topics: ["baseline.changed", "event.created"], is_enabled: true });
    expect(toWebhookPut(form, OFFERED).topics).toEqual(["event.created", "baseline.changed"]);
  });
});

describe("a webhook in words", () => {
  test("says what it receives", () => {
    expect(describeTopics(["event.created", "baseline.changed"], OFFERED)).toBe("Event noted, Baseline changed");
    expect(describeTopics(OFFERED, OFFERED)).toBe("everything");
  });

  test("has a label of its own for each topic", () => {
    const labels = Object.values(TOPIC_WORDS).map(({ label }) => label);
    expect(new Set(labels).size).toBe(labels.length);
  });

  test("says what waits; of failed ones the list says so beside it", () => {
    expect(describeWaiting({ n_unsent: 0, n_failed: 0 })).toBe("none waiting, none failed");
    expect(describeWaiting({ n_unsent: 1, n_failed: 0 })).toBe("1 message waits");
    expect(describeWaiting({ n_unsent: 2, n_failed: 3 })).toBe("2 messages wait");
    expect(describeWaiting({ n_unsent: 0, n_failed: 3 })).toBe("");
  });
});

describe("the next attempt", () => {
  const at = "2026-11-28T12:00:10Z";
  const before = fromApi("2026-11-28T12:00:00Z");

  test("is shown while something waits for it", () => {
    expect(heldUntil({ held_until: at, n_unsent: 1 }, before)).toBe(fromApi(at));
    expect(heldUntil({ held_until: at, n_unsent: 0 }, before)).toBeNull();
    expect(heldUntil({ held_until: null, n_unsent: 1 }, before)).toBeNull();
  });

  test("is not told any more once its time has come", () => {
    expect(heldUntil({ held_until: at, n_unsent: 1 }, fromApi(at))).toBeNull();
  });
});

test("only what failed is sent again, and only by a webhook that sends", () => {
  expect(canRetry({ state: "failed" }, { is_enabled: true })).toBe(true);
  expect(canRetry({ state: "failed" }, { is_enabled: false })).toBe(false);
  for (const state of ["queued", "sending", "sent"] as const) {
    expect(canRetry({ state }, { is_enabled: true })).toBe(false);
  }
});
