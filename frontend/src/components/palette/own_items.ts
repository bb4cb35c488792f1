/** The pages, actions, views and tags of the palette. */

import type { HostInfo, ViewInfo } from "../../logic/api";
import type { OwnItem } from "../../logic/finder";
import { tagsOf } from "../../logic/fleet";
import { type Command, KEYS } from "../../logic/keys";
import { counted } from "../../logic/counted";

/** Pages by their path, with other words for them. */
export const PAGE_ITEMS: readonly OwnItem[] = [
  { key: "/hosts", kind: "page", name: "Hosts", hint: "", words: "fleet machines start" },
  { key: "/graph", kind: "page", name: "Graph of several hosts", hint: "", words: "overlay metric fleet heatmap" },
  {
    key: "/incidents",
    kind: "page",
    name: "Incidents",
    hint: "",
    words: "watch active now unusual alarms alerts episodes events notes deployments reboots log reports saved comparisons",
  },
  {
    key: "/rules",
    kind: "page",
    name: "Rules and alerts",
    hint: "",
    words: "watch mutes backtest channels webhooks timeline use",
  },
  { key: "/comparison", kind: "page", name: "Compare", hint: "", words: "comparison incident findings saved" },
  { key: "/baselines", kind: "page", name: "Baselines", hint: "", words: "normal exclusions groups" },
  { key: "/artefacts", kind: "page", name: "Artefacts", hint: "", words: "lockstat dtrace perf strace flame evidence upload" },
  { key: "/views", kind: "page", name: "Views", hint: "", words: "dashboards bookmarks panels starred" },
  { key: "/imports", kind: "page", name: "Import", hint: "", words: "upload files load recorded" },
  { key: "/jobs", kind: "page", name: "Jobs", hint: "", words: "background work queue" },
  { key: "/specs", kind: "page", name: "Specs", hint: "", words: "tools stats add-ons columns" },
  { key: "/specs/new", kind: "page", name: "New spec", hint: "", words: "add tool" },
  { key: "/storage", kind: "page", name: "Storage", hint: "", words: "disk space retention delete host" },
  {
    key: "/installation",
    kind: "page",
    name: "Installation",
    hint: "",
    words: "doctor check health certificate clock backup database settings",
  },
  { key: "/accounts", kind: "page", name: "Accounts and tokens", hint: "", words: "password users agent api" },
];

/** Actions of every page. */
export const ACTION_ITEMS: readonly OwnItem[] = [
  { key: "scheme", kind: "action", name: "Switch between light and dark colours", hint: "", words: "theme scheme mode night" },
  { key: "density", kind: "action", name: "Switch between compact and comfortable rows", hint: "", words: "density dense close" },
  {
    key: "clock",
    kind: "action",
    name: "Switch between local time, UTC and the zone of the host",
    hint: "",
    words: "zone clock",
  },
  { key: "shortcuts", kind: "action", name: "Show the keyboard shortcuts", hint: "?", words: "help keys" },
];

/** What the keys of a host's page do and a person may look for by words. */
const SEARCHED: readonly (readonly [Command, string, string])[] = [
  ["live", "Go live or pause", "follow now"],
  ["baseline", "Save the selection (or the visible range) as a baseline", "mark normal"],
  ["compare", "Compare the selection (or the visible range) with a baseline", "incident"],
  ["exclude", "Exclude the selection (or the visible range) from baselines", "incident"],
  ["band", "Show or hide the band of the newest baseline", "normal"],
  ["csv", "Export the selection (or the visible range)", "csv parquet download samples"],
  ["add-panel", "Add a panel", "graph metric"],
  ["explore", "Explore a metric", "draw graph any field"],
  ["full", "Full screen of the panel with the focus, and back", "enlarge maximize"],
  ["zoom-out", "Zoom out", "wider"],
];

/** Return the actions of a host's page; their keys are `command:` and the command. */
export const COMMAND_ITEMS: readonly OwnItem[] = SEARCHED.map(([command, name, terms]) => ({
  key: `command:${command}`,
  kind: "action",
  name,
  hint: KEYS.find((key) => key.command === command)?.shown ?? "",
  words: terms,
}));

/** Return the command of an action's key. Missing: null for an action of every page. */
export function commandOf(key: string): Command | null {
  return SEARCHED.find(([command]) => key === `command:${command}`)?.[0] ?? null;
}

const VIEW = "view:";
const TAG = "tag:";

/** Return saved views as items; they open on the host whose page is open. */
export function viewItems(views: readonly ViewInfo[], host: string | null): readonly OwnItem[] {
  return views.map(({ key, name, description }) => ({
    key: `${VIEW}${key}`,
    kind: "view",
    name,
    hint: host === null ? "" : `on ${host}`,
    words: `view dashboard ${description}`,
    detail: description,
  }));
}

/** Return the tags of some hosts as items; they open the list of hosts that have them. */
export function tagItems(hosts: readonly Pick<HostInfo, "tags">[]): readonly OwnItem[] {
  return tagsOf(hosts).map(({ name, n }) => ({
    key: `${TAG}${name}`,
    kind: "tag",
    name,
    hint: counted(n, "host"),
    words: "tag label hosts",
  }));
}

/** Return the tag of an item. Missing: null for any other item. */
export function tagOf(key: string): string | null {
  return key.startsWith(TAG) ? key.slice(TAG.length) : null;
}

/** Return the key of the view of an item. Missing: null for any other item. */
export function viewKeyOf(key: string): string | null {
  return key.startsWith(VIEW) ? key.slice(VIEW.length) : null;
}
