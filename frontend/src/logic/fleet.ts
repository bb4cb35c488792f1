/** The fleet: order, search and drawing of the hosts of the start page. */

import type { FleetHost, FleetLine, HostOn } from "./api";
import { formatValue } from "./number";
import { type EpochMs, MINUTE, toEpochMs, toIso, type Window } from "./time";
import { scaleFor } from "./unit";
import { COLOURS, toColour } from "./watch";

export const RESOURCES = ["cpu", "run_queue", "disk", "memory", "network"] as const;
export type Resource = (typeof RESOURCES)[number];
export const RESOURCE_LABELS: Readonly<Record<Resource, string>> = {
  cpu: "CPU",
  run_queue: "Run queue",
  disk: "Disk",
  memory: "Memory",
  network: "Network",
};

export const FLEET_SORTS = ["unusual", "name", "state", "seen", ...RESOURCES] as const;
export type FleetSort = (typeof FLEET_SORTS)[number];

/** What a letter of a ribbon says of a minute. */
export type Cell = "0" | "1" | "2" | "3" | "unjudged" | "none" | "unread";

const CELLS: Readonly<Record<string, Cell>> = { "0": "0", "1": "1", "2": "2", "3": "3", "?": "unjudged", ".": "unread" };
export const CELL_WORDS: Readonly<Record<Cell, string>> = {
  "0": "within normal variation",
  "1": "slightly unusual",
  "2": "unusual",
  "3": "very unusual",
  unjudged: "samples, but no baseline to compare with",
  none: "no samples",
  unread: "not read yet",
};
/** How high a cell is drawn, so that colour is not the only sign. */
export const CELL_HEIGHTS: Readonly<Record<Cell, number>> = {
  "0": 0.4,
  "1": 0.6,
  "2": 0.8,
  "3": 1,
  unjudged: 0.4,
  none: 0.14,
  unread: 0.14,
};

/** Equal neighbouring minutes of a ribbon. */
export interface Run {
  readonly cell: Cell;
  readonly start: number;
  readonly length: number;
}

export function runsOf(ribbon: string): readonly Run[] {
  return [...ribbon.matchAll(/(.)\1*/g)].map(({ 0: text, 1: letter = "-", index }) => ({
    cell: CELLS[letter] ?? "none",
    start: index,
    length: text.length,
  }));
}

/** Return a ribbon in words: the longest time that it was worst, and where it has no samples. */
export function describeRibbon(ribbon: string): string {
  const counts = new Map<Cell, number>();
  for (const { cell, length } of runsOf(ribbon)) {
    counts.set(cell, (counts.get(cell) ?? 0) + length);
  }
  const order: readonly Cell[] = ["3", "2", "1", "0", "unjudged", "none", "unread"];
  const parts = order.flatMap((cell) => {
    const n = counts.get(cell) ?? 0;
    return n === 0 ? [] : [`${String(n)} min ${CELL_WORDS[cell]}`];
  });
  return `Last hour: ${parts.join(", ")}`;
}

const HEIGHTS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Return the heights of a sparkline, 0 to 1. Missing: null. */
export function heightsOf(letters: string): readonly (number | null)[] {
  return Array.from(letters, (letter) => {
    const height = HEIGHTS.indexOf(letter);
    return height < 0 ? null : height / (HEIGHTS.length - 1);
  });
}

/** Return the path of a sparkline in a box of these sizes; a minute between gaps is a short stroke. */
export function pathOf(letters: string, width: number, height: number): string {
  const heights = heightsOf(letters);
  const step = width / Math.max(1, heights.length - 1);
  const at = (place: number, value: number): string =>
    `${(place * step).toFixed(1)} ${(1 + (1 - value) * (height - 2)).toFixed(1)}`;
  let path = "";
  heights.forEach((value, place) => {
    if (value === null) {
      return;
    }
    const isNew = (heights[place - 1] ?? null) === null;
    path += `${isNew ? "M" : "L"}${at(place, value)}`;
    if (isNew && (heights[place + 1] ?? null) === null) {
      path += `h${Math.min(step, 1.5).toFixed(1)}`;
    }
  });
  return path;
}

/** Return where the band of a sparkline is in a box of this height. Missing: null without a band. */
export function bandBox(line: FleetLine, height: number): { readonly y: number; readonly height: number } | null {
  if (line.low === null || line.high === null) {
    return null;
  }
  const place = (value: number): number => 1 + (1 - Math.min(1, Math.max(0, value / line.top))) * (height - 2);
  const y = place(line.high);
  return { y, height: Math.max(1.5, place(line.low) - y) };
}

/** Return a value with its unit, short enough for a table: `98 %`, `1.8 GiB/s`, `6.2`. */
export function formatShort(value: number | null, unit: string): string {
  if (value === null) {
    return "–";
  }
  // One kind of units for all hosts of a table, whatever their tools print.
  const scale = scaleFor(unit, Math.abs(value), "binary");
  const number = value / scale.factor;
  const size = Math.abs(number);
  const decimals = Number.isInteger(number) || size >= 100 ? 0 : size >= 10 ? (unit === "%" ? 0 : 1) : size >= 1 ? 1 : 2;
  const text = `${formatValue(number, decimals)}${scale.suffix}`;
  // The heading says what is counted.
  return /^[a-z]{3,}$/.test(scale.unit) || scale.unit === "" ? text : `${text} ${scale.unit}`;
}

/** Return a sparkline in words: `vda busy: 98 %, normally 0 to 6 %`. */
export function describeLine({ label, unit, now, low, high }: FleetLine): string {
  const value = now === null ? "no samples in the last minutes" : formatShort(now, unit);
  const normal = low === null || high === null ? "" : `, normally ${formatShort(low, unit)} to ${formatShort(high, unit)}`;
  return `${label}: ${value}${normal}`;
}

export function lineOf(host: FleetHost, resource: Resource): FleetLine | null {
  return host.lines.find((line) => line.resource === resource) ?? null;
}

// --- order and search ---

/** What rules find on hosts, by the host's name; hosts on which nothing is on are left out. */
export type OnHosts = ReadonlyMap<string, HostOn>;

/** Return how bad the worst state of a host's rules is. Missing: -1 where nothing is on. */
function severityOn(on: OnHosts, { name }: FleetHost): number {
  const colour = toColour(on.get(name)?.colour ?? "");
  return colour === null ? -1 : COLOURS.indexOf(colour);
}

/** Hosts with a rule at red or worse, by it; unusual hosts, and those with an amber rule; silent ones; those that cannot be judged; normal ones. */
function rankOf(host: FleetHost, severity: number): number {
  if (severity >= COLOURS.indexOf("red")) {
    return -severity;
  }
  if (severity >= 0 || (host.verdict === "judged" && host.level > 0)) {
    return 0;
  }
  if (host.state === "silent" || host.state === "late" || host.verdict === "no_samples") {
    return host.state === "recorded" ? 4 : 1;
  }
  return host.verdict === "judged" ? 3 : 2;
}

const STATE_ORDER: Readonly<Record<FleetHost["state"], number>> = { silent: 0, late: 1, live: 2, recorded: 3 };
const names = new Intl.Collator("en", { numeric: true });

function compareBy(sort: FleetSort, on: OnHosts): (a: FleetHost, b: FleetHost) => number {
  switch (sort) {
    case "unusual":
      return (a, b) =>
        rankOf(a, severityOn(on, a)) - rankOf(b, severityOn(on, b)) || (b.change_ratio ?? -1) - (a.change_ratio ?? -1);
    case "name":
      return () => 0;
    case "state":
      return (a, b) => severityOn(on, b) - severityOn(on, a) || STATE_ORDER[a.state] - STATE_ORDER[b.state];
    case "seen":
      return (a, b) => (a.last_sample_ms ?? 0) - (b.last_sample_ms ?? 0);
    case "cpu":
    case "run_queue":
    case "disk":
    case "memory":
    case "network": {
      const value = (host: FleetHost): number => {
        const line = lineOf(host, sort);
        return line?.now ?? -1;
      };
      // The host with the least memory left comes first.
      return (a, b) => (sort === "memory" ? leastFirst(value(a), value(b)) : value(b) - value(a));
    }
  }
}

function leastFirst(a: number, b: number): number {
  return a < 0 || b < 0 ? b - a : a - b;
}

/** Return the hosts in the order of a sort, equal ones by name. */
export function sortFleet(hosts: readonly FleetHost[], sort: FleetSort, on: OnHosts): readonly FleetHost[] {
  const compare = compareBy(sort, on);
  return [...hosts].sort((a, b) => compare(a, b) || names.compare(a.name, b.name));
}

/** Return the hosts that contain every word in their name, system, groups, tags or sentence; `group:` and `tag:` look there alone. */
export function searchFleet(hosts: readonly FleetHost[], text: string): readonly FleetHost[] {
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean);
  return terms.length === 0 ? hosts : hosts.filter((host) => terms.every((word) => hasWord(host, word)));
}

function hasWord(host: FleetHost, word: string): boolean {
  const [, key, value] = /^(group|state|tag):(.+)$/.exec(word) ?? [];
  if (value === undefined) {
    return [host.name, host.os, ...host.groups, ...host.tags, host.sentence].join(" ").toLowerCase().includes(word);
  }
  if (key === "tag") {
    // The whole tag: `db` is not `db-old`.
    return host.tags.some((tag) => tag.toLowerCase() === value);
  }
  return key === "state" ? host.state.startsWith(value) : host.groups.some((group) => joined(group).includes(value));
}

function joined(group: string): string {
  return group.toLowerCase().replaceAll(/\s+/g, "");
}

/** Return the word of a search that finds the hosts of a group. */
export function groupWord(group: string): string {
  return `group:${joined(group)}`;
}

/** Return the word of a search that finds the hosts with a tag. */
export function tagWord(tag: string): string {
  return `tag:${tag.toLowerCase()}`;
}

/** Return a search with one word more, or the same if it has the word. */
export function withWord(text: string, word: string): string {
  return text.toLowerCase().split(/\s+/).includes(word) ? text : `${text.trim()} ${word}`.trim();
}

interface Counted {
  readonly name: string;
  readonly n: number;
}

function countNames(all: readonly string[]): readonly Counted[] {
  const counts = new Map<string, number>();
  for (const name of all) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, n]) => ({ name, n })).sort((a, b) => names.compare(a.name, b.name));
}

/** Return the groups of the fleet with the number of their hosts, by name. */
export function groupsOf(hosts: readonly FleetHost[]): readonly Counted[] {
  return countNames(hosts.flatMap((host) => host.groups));
}

/** Return the tags of hosts with the number of hosts that have each, by name. */
export function tagsOf(hosts: readonly { readonly tags: readonly string[] }[]): readonly Counted[] {
  return countNames(hosts.flatMap(({ tags }) => tags));
}

/** What may be taken from some hosts: tags that people gave them; and what only their agents' configuration can take. */
export function removableTags(hosts: readonly Pick<FleetHost, "tags" | "agent_tags">[]) {
  const given = hosts.flatMap(({ tags, agent_tags }) => tags.filter((tag) => !agent_tags.includes(tag)));
  return { given: countNames(given), ofAgents: countNames(hosts.flatMap(({ agent_tags }) => agent_tags)) };
}

/** A row of the table: a host, or the heading of the recorded ones. */
export type FleetItem =
  | { readonly kind: "host"; readonly host: FleetHost }
  | { readonly kind: "fold"; readonly n: number; readonly isOpen: boolean };

/** Return the rows: agents' hosts first, recorded ones folded apart unless they are all there is. */
export function toItems(hosts: readonly FleetHost[], isOpen: boolean): readonly FleetItem[] {
  const recorded = hosts.filter(({ state }) => state === "recorded");
  const live = hosts.filter(({ state }) => state !== "recorded");
  const rows = (some: readonly FleetHost[]): readonly FleetItem[] => some.map((host) => ({ kind: "host", host }));
  if (recorded.length === 0 || live.length === 0) {
    return rows(hosts);
  }
  return [...rows(live), { kind: "fold", n: recorded.length, isOpen }, ...(isOpen ? rows(recorded) : [])];
}

// --- virtual rows ---

/** The rows to draw: [first, last). */
export interface Slice {
  readonly first: number;
  readonly last: number;
}

const BEYOND = 8;

/** Return the rows that a view of this height shows, and a few beyond it. `offset`: pixels of the list above the view. */
export function sliceOf(offset: number, viewHeight: number, rowHeight: number, n: number): Slice {
  const first = Math.max(0, Math.min(n, Math.floor(offset / rowHeight)) - BEYOND);
  return { first, last: Math.min(n, first + Math.ceil(viewHeight / rowHeight) + 2 * BEYOND) };
}

/** Return the row that a key moves to. Missing: null for other keys. */
export function moveRow(key: string, at: number, n: number, page: number): number | null {
  const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -n, End: n };
  const step = steps[key];
  return step === undefined || n === 0 ? null : Math.max(0, Math.min(n - 1, at + step));
}

// --- time ---

/** The hour that the answer is of. */
export function hourOf(end: EpochMs, nMinutes: number): Window {
  return { start: toEpochMs(end - nMinutes * MINUTE), end };
}

/** Return a moment as a whole minute, at most now. */
export function wholeMinute(at: number, now: EpochMs): EpochMs {
  return toEpochMs(Math.floor(Math.min(at, now) / MINUTE) * MINUTE);
}

/** How far back the slider reaches. */
export const SLIDER_MINUTES = 24 * 60;

/** Return the place of a moment on the slider: minutes before its end, as a negative number. */
export function sliderPlace(at: EpochMs, end: EpochMs): number {
  return Math.max(-SLIDER_MINUTES, Math.min(0, Math.round((at - end) / MINUTE)));
}

/** Return the end of the slider: now, or later than a moment that is too old for it by half its length. */
export function sliderEnd(at: EpochMs | null, now: EpochMs): EpochMs {
  const whole = wholeMinute(now, now);
  if (at === null || whole - at <= SLIDER_MINUTES * MINUTE) {
    return whole;
  }
  return wholeMinute(at + (SLIDER_MINUTES / 2) * MINUTE, now);
}

/** Return a length rounded down to whole steps, at least 0. */
export function stepsOf(length: number, step: number): number {
  return Math.max(0, Math.floor(length / step) * step);
}

/** Return the time before an instant. */
export function lastOf(end: EpochMs, length: number): Window {
  return { start: toEpochMs(end - length), end };
}

/** Return the last quarter of an hour of a window: what a comparison of hosts that are unusual now looks at. */
export function recentWindow(hour: Window): Window {
  return lastOf(hour.end, 15 * MINUTE);
}

/** Return the address of the page that shows several hosts in one graph. */
export function overlayLink(hosts: readonly string[], window: Window | null): string {
  const names = hosts.map(encodeURIComponent).join(",");
  return `/graph?hosts=${names}${window === null ? "" : `&from=${toIso(window.start)}&to=${toIso(window.end)}`}`;
}
