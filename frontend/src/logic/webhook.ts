/** Webhooks: the form, and what they are told of in words. */

import type { DeliveryState, Topic, WebhookDelivery, WebhookInfo, WebhookPut } from "./api";
import { type EpochMs, fromApi } from "./time";
import { words } from "../words";

interface TopicWords {
  readonly label: string;
  /** When a message is sent. */
  readonly help: string;
}

export const TOPIC_WORDS: Readonly<Record<Topic, TopicWords>> = {
  "event.created": words.webhooks.topics.eventCreated,
  "event.changed": words.webhooks.topics.eventChanged,
  "event.deleted": words.webhooks.topics.eventDeleted,
  "baseline.created": words.webhooks.topics.baselineCreated,
  "baseline.changed": words.webhooks.topics.baselineChanged,
  "baseline.deleted": words.webhooks.topics.baselineDeleted,
  "comparison.saved": words.webhooks.topics.comparisonSaved,
  "comparison.deleted": words.webhooks.topics.comparisonDeleted,
  "experiment_run.stored": words.webhooks.topics.runStored,
  test: words.webhooks.topics.test,
};

export const DELIVERY_STATES: Readonly<Record<DeliveryState, string>> = words.webhooks.deliveries.states;

/** A webhook as it is typed. */
export interface WebhookForm {
  readonly name: string;
  /** Empty: the stored one stays. */
  readonly url: string;
  readonly topics: readonly Topic[];
  readonly isEnabled: boolean;
  readonly renewsKey: boolean;
}

/** Return a webhook as a form; null is a new one. */
export function toWebhookForm(webhook: Pick<WebhookInfo, "name" | "topics" | "is_enabled"> | null): WebhookForm {
  return {
    name: webhook?.name ?? "",
    url: "",
    topics: webhook?.topics ?? [],
    isEnabled: webhook?.is_enabled ?? true,
    renewsKey: false,
  };
}

export function toWebhookPut({ name, url, topics, isEnabled, renewsKey }: WebhookForm): WebhookPut {
  const typed = url.trim();
  return {
    name: name.trim(),
    url: typed === "" ? null : typed,
    topics: [...topics],
    is_enabled: isEnabled,
    renews_key: renewsKey,
  };
}

/** Return the topics that are chosen, in the order in which they are offered. */
export function chooseTopics(chosen: readonly string[], offered: readonly Topic[]): readonly Topic[] {
  return offered.filter((topic) => chosen.includes(topic));
}

/** Return what a webhook is told of in words. */
export function describeTopics(topics: readonly Topic[], offered: readonly Topic[]): string {
  return offered.every((topic) => topics.includes(topic))
    ? words.webhooks.list.everything
    : topics.map((topic) => TOPIC_WORDS[topic].label).join(", ");
}

/** Return what waits, in words. */
export function describeWaiting({ n_unsent, n_failed }: Pick<WebhookInfo, "n_unsent" | "n_failed">): string {
  if (n_unsent === 0) {
    return n_failed === 0 ? words.webhooks.list.nothingWaits : "";
  }
  return words.webhooks.list.nWait(n_unsent);
}

/** Return until when a webhook waits because an attempt failed; null if it does not. */
export function heldUntil({ held_until, n_unsent }: Pick<WebhookInfo, "held_until" | "n_unsent">, now: EpochMs): EpochMs | null {
  const until = held_until === null ? null : fromApi(held_until);
  return until !== null && n_unsent > 0 && until > now ? until : null;
}

/** Return whether a delivery can be sent again: one of a webhook that is off would only wait. */
export function canRetry({ state }: Pick<WebhookDelivery, "state">, { is_enabled }: Pick<WebhookInfo, "is_enabled">): boolean {
  return state === "failed" && is_enabled;
}
