/** Webhooks: the form, and what they are told of in words. */

import type { DeliveryState, Topic, WebhookDelivery, WebhookInfo, WebhookPut } from "./api";
import { type EpochMs, fromApi } from "./time";
import { counted } from "./counted";

interface TopicWords {
  readonly label: string;
  /** When a message is sent. */
  readonly help: string;
}

export const TOPIC_WORDS: Readonly<Record<Topic, TopicWords>> = {
  "event.created": { label: "Event noted", help: "A person, script, agent or import noted an event, or restored a deleted one." },
  "event.changed": { label: "Event changed", help: "A person or script changed an event. The message has it as it is now." },
  "event.judged": {
    label: "Event judged",
    help: "A deployment, a setting or a reboot was judged: the hosts are the same, better or worse after it.",
  },
  "event.deleted": { label: "Event deleted", help: "A person or script deleted an event. The message has it as it was." },
  "baseline.created": { label: "Baseline created", help: "A person or script created a baseline." },
  "baseline.changed": {
    label: "Baseline changed",
    help: "A person or script changed or archived a baseline. Windows that recurring rules add are not reported.",
  },
  "baseline.deleted": { label: "Baseline deleted", help: "A person or script deleted a baseline." },
  "comparison.saved": { label: "Comparison saved", help: "A comparison was saved. The receiver gets its result from the API." },
  "comparison.deleted": { label: "Comparison deleted", help: "A saved comparison was deleted." },
  "experiment_run.stored": { label: "Run stored", help: "A run of an experiment was stored. The message has its results." },
  test: { label: "Test", help: "A test message." },
};

export const DELIVERY_STATES: Readonly<Record<DeliveryState, string>> = {
  queued: "waits",
  sending: "being sent",
  sent: "sent",
  failed: "failed",
};

/** A webhook as it is typed; an empty URL keeps the stored one. */
export type WebhookForm = WebhookPut & { readonly url: string };

/** Return a webhook as a form; null is a new one. */
export function toWebhookForm(webhook: Pick<WebhookInfo, "name" | "topics" | "is_enabled"> | null): WebhookForm {
  return {
    name: webhook?.name ?? "",
    url: "",
    topics: webhook?.topics ?? [],
    is_enabled: webhook?.is_enabled ?? true,
    renews_key: false,
  };
}

/** Return a form as the API takes it, its topics in the order in which they are offered. */
export function toWebhookPut(form: WebhookForm, offered: readonly Topic[]): WebhookPut {
  const url = form.url.trim();
  return {
    ...form,
    name: form.name.trim(),
    url: url === "" ? null : url,
    topics: offered.filter((topic) => form.topics.includes(topic)),
  };
}

/** Return what a webhook receives, in words. */
export function describeTopics(topics: readonly Topic[], offered: readonly Topic[]): string {
  return offered.every((topic) => topics.includes(topic))
    ? "everything"
    : topics.map((topic) => TOPIC_WORDS[topic].label).join(", ");
}

/** Return what waits, in words. */
export function describeWaiting({ n_unsent, n_failed }: Pick<WebhookInfo, "n_unsent" | "n_failed">): string {
  if (n_unsent === 0) {
    return n_failed === 0 ? "none waiting, none failed" : "";
  }
  return `${counted(n_unsent, "message")} ${n_unsent === 1 ? "waits" : "wait"}`;
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
