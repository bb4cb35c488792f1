/** The pages and actions of the palette. */

import type { OwnItem } from "../../logic/finder";
import { type Command, KEYS } from "../../logic/keys";

/** Pages by their path, with other words for them. */
export const PAGE_ITEMS: readonly OwnItem[] = [
  { key: "/hosts", kind: "page", name: "Hosts", hint: "", words: "fleet machines start" },
  { key: "/comparison", kind: "page", name: "Compare", hint: "", words: "comparison incident findings saved" },
  { key: "/baselines", kind: "page", name: "Baselines", hint: "", words: "normal exclusions groups" },
  { key: "/imports", kind: "page", name: "Import", hint: "", words: "upload files load recorded" },
  { key: "/jobs", kind: "page", name: "Jobs", hint: "", words: "background work queue" },
  { key: "/specs", kind: "page", name: "Specs", hint: "", words: "tools stats add-ons columns" },
  { key: "/specs/new", kind: "page", name: "New spec", hint: "", words: "add tool" },
  { key: "/storage", kind: "page", name: "Storage", hint: "", words: "disk space retention delete host" },
  { key: "/accounts", kind: "page", name: "Accounts and tokens", hint: "", words: "password users agent api" },
];

/** Actions of every page. */
export const ACTION_ITEMS: readonly OwnItem[] = [
  { key: "scheme", kind: "action", name: "Switch between light and dark colours", hint: "", words: "theme scheme mode night" },
  { key: "clock", kind: "action", name: "Switch between local time and UTC", hint: "", words: "zone clock" },
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
  ["zoom-out", "Zoom out", "wider"],
];

/** Return the actions of a host's page; their keys are `command:` and the command. */
export const COMMAND_ITEMS: readonly OwnItem[] = SEARCHED.map(([command, name, words]) => ({
  key: `command:${command}`,
  kind: "action",
  name,
  hint: KEYS.find((key) => key.command === command)?.shown ?? "",
  words,
}));

/** Return the command of an action's key. Missing: null for an action of every page. */
export function commandOf(key: string): Command | null {
  return SEARCHED.find(([command]) => key === `command:${command}`)?.[0] ?? null;
}
