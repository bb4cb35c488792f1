/** Alerts: channels and routes as forms, and what they do in words. */

import type { AlertChannelInfo, ChannelSettings, RouteSettings } from "./api";
import { COLOUR_LABELS, describeSeconds, toColour } from "./watch";

const MESSAGE_KINDS = {
  fired: "began",
  worse: "got worse",
  escalated: "escalated",
  repeated: "lasts",
  renewed: "renewed",
  resolved: "over",
};

const MESSAGE_STATES = { queued: "waits", sending: "being sent", sent: "sent", failed: "failed", dropped: "dropped" };

const ALERT_STATES = { waiting: "waiting", firing: "open", resolved: "over", dropped: "ended before it was sent" };

export const CHANNEL_KINDS = ["email", "chat", "service", "webhook", "alertmanager", "script"] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];
export const CHAT_FORMATS = ["slack", "mattermost", "teams"] as const;
export const MAIL_SECURITIES = ["starttls", "tls", "none"] as const;
/** The states that notify people. */
export const LOWEST = ["amber", "red", "black"] as const;
export const GROUPINGS = ["story", "host", "rule", "route"] as const;
export const WEEKDAYS = [1, 2, 3, 4, 5, 6, 7] as const;

export const KIND_LABELS: Readonly<Record<ChannelKind, string>> = {
  email: "Mail",
  chat: "Chat",
  service: "On call, push",
  webhook: "Webhook",
  alertmanager: "Alertmanager",
  script: "Script",
};

export function toKind(kind: string): ChannelKind | null {
  return CHANNEL_KINDS.find((known) => known === kind) ?? null;
}

/** The secrets that a channel works without. */
export const OPTIONAL_SECRETS = ["password", "authorization", "key"] as const;
export type OptionalSecret = (typeof OPTIONAL_SECRETS)[number];

/** A channel as it is typed, whatever its kind. */
export interface ChannelForm {
  readonly name: string;
  readonly is_enabled: boolean;
  readonly kind: ChannelKind;
  readonly server: string;
  readonly port: number;
  readonly security: (typeof MAIL_SECURITIES)[number];
  readonly username: string;
  /** Empty: the stored one stays. */
  readonly password: string;
  readonly sender: string;
  readonly recipients: readonly string[];
  readonly url: string;
  readonly authorization: string;
  readonly template: string;
  readonly format: (typeof CHAT_FORMATS)[number];
  /** The name of a service; empty: none is chosen. */
  readonly service: string;
  readonly key: string;
  readonly target: string;
  /** `name=value`. */
  readonly labels: readonly string[];
  /** Null: none is chosen. */
  readonly script: string | null;
  /** Stored secrets that are to be removed. */
  readonly removed: readonly OptionalSecret[];
}

const NEW_CHANNEL: ChannelForm = {
  name: "",
  is_enabled: true,
  kind: "email",
  server: "",
  port: 587,
  security: "starttls",
  username: "",
  password: "",
  sender: "",
  recipients: [],
  url: "",
  authorization: "",
  template: "",
  format: "slack",
  service: "",
  key: "",
  target: "",
  labels: [],
  script: null,
  removed: [],
};

/** Return a channel as a form; its secrets are empty, which keeps them. */
export function toChannelForm(channel: Pick<AlertChannelInfo, "name" | "is_enabled" | "settings" | "kind"> | null): ChannelForm {
  if (channel === null) {
    return NEW_CHANNEL;
  }
  const { name, is_enabled, settings } = channel;
  const form = { ...NEW_CHANNEL, name, is_enabled, kind: toKind(channel.kind) ?? NEW_CHANNEL.kind };
  switch (settings?.kind) {
    case undefined:
      return form;
    case "email": {
      const { server, port, security, username, sender, recipients } = settings;
      return { ...form, server, port, security, username, sender, recipients };
    }
    case "webhook":
      return { ...form, template: settings.template };
    case "chat":
      return { ...form, format: settings.format };
    case "alertmanager":
      return { ...form, url: settings.url, labels: Object.entries(settings.labels).map(([key, value]) => `${key}=${value}`) };
    case "service": {
      const { service, url, target } = settings;
      return { ...form, service, url, target };
    }
    case "script":
      return { ...form, script: settings.script };
  }
}

/** Return the settings that a form means; a secret is null to keep the stored one, and empty to remove it. */
export function toChannelSettings(form: ChannelForm): ChannelSettings {
  const optional = (name: OptionalSecret) => (form.removed.includes(name) ? "" : secret(form[name]));
  const authorization = optional("authorization");
  switch (form.kind) {
    case "email": {
      const { server, port, security, username, sender, recipients } = form;
      return {
        kind: "email",
        server,
        port,
        security,
        username,
        sender,
        recipients: [...recipients],
        password: optional("password"),
      };
    }
    case "webhook":
      return { kind: "webhook", url: secret(form.url), authorization, template: form.template };
    case "chat":
      return { kind: "chat", url: secret(form.url), format: form.format };
    case "alertmanager":
      return { kind: "alertmanager", url: form.url, authorization, labels: Object.fromEntries(form.labels.map(toLabel)) };
    case "service":
      return { kind: "service", service: form.service, url: form.url, key: optional("key"), target: form.target.trim() };
    case "script":
      return { kind: "script", script: form.script ?? "" };
  }
}

function secret(typed: string): string | null {
  return typed === "" ? null : typed;
}

function toLabel(text: string): [string, string] {
  const at = text.indexOf("=");
  return at < 0 ? [text, ""] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

/** Return the settings of a new route: everything critical, at once, without receivers yet. */
export function newRoute(timeZone: string): RouteSettings {
  return {
    match: { hosts: [], tags: [], groups: [], sources: [], subsystems: [], lowest: "red", hours: [], time_zone: timeZone },
    channels: [],
    group_by: "story",
    wait_s: 30,
    repeat_min: null,
    sends_resolved: true,
    resolve_wait_s: 300,
    escalations: [],
    is_last: false,
  };
}

/** Return which episodes a route takes: `hosts web*; critical or worse; Mon–Fri 08:00–18:00 (Europe/Berlin)`. */
export function describeMatch({ match }: Pick<RouteSettings, "match">): string {
  const { hosts, tags, groups, sources, subsystems, lowest, hours, time_zone } = match;
  const colour = toColour(lowest);
  const parts = [
    ...(hosts.length === 0 ? [] : [`hosts ${hosts.join(", ")}`]),
    ...(tags.length === 0 ? [] : [`tags ${tags.join(", ")}`]),
    ...(groups.length === 0 ? [] : [`groups ${groups.join(", ")}`]),
    ...(sources.length === 0 ? [] : [`rules ${sources.join(", ")}`]),
    ...(subsystems.length === 0 ? [] : [`subsystems ${subsystems.join(", ")}`]),
    `${colour === null ? lowest : COLOUR_LABELS[colour]} or worse`,
    ...(hours.length === 0
      ? []
      : [`${hours.map(({ weekdays, start, end }) => `${describeDays(weekdays)} ${start}–${end}`).join(", ")} (${time_zone})`]),
  ];
  const isAny = [hosts, tags, groups, sources, subsystems].every(({ length }) => length === 0);
  return `${isAny ? `everything; ` : ""}${parts.join("; ")}`;
}

/** Return days of the week, consecutive ones as a range: `Mon–Fri, Sun`. */
export function describeDays(weekdays: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const day of [...weekdays].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last?.[1] === day - 1) {
      last[1] = day;
    } else {
      runs.push([day, day]);
    }
  }
  return runs
    .map(([first, last]) =>
      first === last ? dayLabel(first) : `${dayLabel(first)}${last - first > 1 ? "–" : ", "}${dayLabel(last)}`,
    )
    .join(", ");
}

/** Return the short name of a day; 1 is Monday. */
export function dayLabel(day: number): string {
  return "Mon Tue Wed Thu Fri Sat Sun".split(" ")[day - 1] ?? String(day);
}

/** Return what a route does: to whom it sends, when, and what follows. */
export function describeSending(settings: RouteSettings, nameOf: (channel: number) => string): string {
  const name = (channels: readonly number[]): string => channels.map(nameOf).join(", ");
  return [
    `to ${name(settings.channels)}`,
    settings.wait_s === 0 ? "at once" : `after ${describeSeconds(settings.wait_s)}`,
    ...(settings.repeat_min === null ? [] : [`again every ${describeSeconds(settings.repeat_min * 60)}`]),
    ...settings.escalations.map(
      ({ after_min, channels }) => `unacknowledged for ${describeSeconds(after_min * 60)}: also to ${name(channels)}`,
    ),
    ...(settings.sends_resolved ? ["sends a message when it ends"] : []),
    ...(settings.is_last ? ["routes below do not get it"] : []),
  ].join("; ");
}

/** Return ids with one of them moved by a place up or down. */
export function moved(ids: readonly number[], id: number, by: -1 | 1): number[] {
  const at = ids.indexOf(id);
  const other = ids[at + by];
  return at < 0 || other === undefined ? [...ids] : ids.map((each) => (each === id ? other : each === other ? id : each));
}

/** Return what a message is, in words. */
export function describeMessageKind(kind: string): string {
  return (MESSAGE_KINDS as Readonly<Record<string, string>>)[kind] ?? kind;
}

export function describeMessageState(state: string): string {
  return (MESSAGE_STATES as Readonly<Record<string, string>>)[state] ?? state;
}

export function describeAlertState(state: string): string {
  return (ALERT_STATES as Readonly<Record<string, string>>)[state] ?? state;
}
