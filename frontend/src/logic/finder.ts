/**
 * The palette's rule: how well words fit a thing, and in which order hits are shown. The rule is that of the server's
 * query/search/search_score.py; both are held to finder_cases.json.
 */

import type { SearchAnswer, SearchHit, SearchKind } from "./api";
import { counted } from "./counted";

const EXACT = 0;
const START = 1;
const PART = 2;
const INSIDE = 3;
const TEXT_PART = 4;
const TEXT_INSIDE = 5;
const LETTERS = 8;
const MIN_LETTERS = 3;
const MAX_WORDS = 12;
const EDGES = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;

export interface Searchable {
  /** What it is called. */
  readonly names: readonly string[];
  /** What is said about it. */
  readonly texts: readonly string[];
}

/** Return the words of a query, in lower case. */
export function splitWords(query: string): readonly string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
}

/** Return how well all words fit, 0 for best; null if one of them does not fit. */
export function scoreOf(terms: readonly string[], { names, texts }: Searchable): number | null {
  const lowNames = names.filter(Boolean).map((name) => name.toLowerCase());
  const lowTexts = texts.filter(Boolean).map((text) => text.toLowerCase());
  let total = 0;
  for (const word of terms) {
    const own = scoreWord(word, lowNames, lowTexts);
    if (own === null) {
      return null;
    }
    total += own;
  }
  return total;
}

function scoreWord(word: string, names: readonly string[], texts: readonly string[]): number | null {
  if ([...names, ...texts].some((text) => text.includes(word))) {
    const best = Math.min(LETTERS, ...names.map((name) => scoreName(word, name)));
    if (best <= INSIDE) {
      return best;
    }
    return texts.some((text) => partStart(word).test(text)) ? TEXT_PART : TEXT_INSIDE;
  }
  const bare = bareOf(word);
  if (bare !== "" && names.some((name) => bareOf(name) === bare)) {
    return EXACT;
  }
  return Array.from(word).length >= MIN_LETTERS && names.some((name) => lettersOf(word).test(name)) ? LETTERS : null;
}

function scoreName(word: string, name: string): number {
  const bare = bareOf(name);
  if (word === name || word === bare) {
    return EXACT;
  }
  if (name.startsWith(word) || bare.startsWith(word)) {
    return START;
  }
  if (!name.includes(word)) {
    return LETTERS;
  }
  return partStart(word).test(name) ? PART : INSIDE;
}

/** Return a name without the signs around it: `%iowait` is asked for as iowait. */
function bareOf(name: string): string {
  return name.replaceAll(EDGES, "");
}

function escapeWord(text: string): string {
  return text.replaceAll(/[$()*+./?[\\\]^{|}-]/g, "\\$&");
}

/** A word at the beginning of a part: after a sign, or first. */
function partStart(word: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${escapeWord(word)}`, "u");
}

/** The letters in their order, the first one at the beginning of a part: `mpst` for mpstat. */
function lettersOf(word: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${Array.from(word).map(escapeWord).join(".*?")}`, "u");
}

export type OwnKind = "action" | "page" | "view" | "tag";
export type ItemKind = OwnKind | SearchKind;

/** Something that the palette can open. */
export interface PaletteItem {
  readonly key: string;
  readonly kind: ItemKind;
  readonly name: string;
  readonly detail: string;
  /** At the right: a unit, a host, a key. */
  readonly hint: string;
  readonly score: number;
  /** The server's hit; null for pages and actions, which the page knows by their key. */
  readonly hit: SearchHit | null;
}

/** A page, an action, a view or a tag that the page itself knows. */
export interface OwnItem {
  readonly key: string;
  readonly kind: OwnKind;
  readonly name: string;
  readonly hint: string;
  /** Other words for it. */
  readonly words: string;
  /** What it is, beside its name. */
  readonly detail?: string;
}

export interface ItemGroup {
  readonly kind: ItemKind;
  readonly title: string;
  readonly items: readonly PaletteItem[];
  readonly n_found: number;
}

const TITLES: Readonly<Record<ItemKind, string>> = {
  page: "Pages",
  action: "Actions",
  host: "Hosts",
  tag: "Tags",
  metric: "Metrics",
  instance: "Disks, CPUs and other instances",
  command: "Commands",
  process: "Processes",
  view: "Views",
  baseline: "Baselines",
  comparison: "Saved comparisons",
  artefact: "Artefacts",
  event: "Events",
  other_metric: "",
};
/** The order of groups that fit equally well. */
const KINDS = Object.keys(TITLES) as readonly ItemKind[];
/** Rows of a group while there are other groups. */
const MAX_SHARED_ROWS = 6;

/** Return the pages, actions, views and tags that fit; all of them without words. */
export function rankOwn(own: readonly OwnItem[], query: string): readonly PaletteItem[] {
  const terms = splitWords(query);
  return own
    .flatMap(({ key, kind, name, hint, words: others, detail = "" }) => {
      const score = scoreOf(terms, { names: [name], texts: [others] });
      return score === null ? [] : [{ key, kind, name, detail, hint, score, hit: null }];
    })
    .sort((a, b) => a.score - b.score);
}

/** Return the item of a server's hit. `host`: the host whose page is open. */
export function toItem(hit: SearchHit, host: string | null): PaletteItem {
  const parts = [hit.kind, hit.host, hit.stat, hit.field, hit.instance, hit.id, hit.at, hit.pid, hit.name];
  return {
    key: parts.map((part) => part ?? "").join(" "),
    kind: hit.kind,
    name: hit.field !== null && hit.instance !== null ? `${hit.instance} ${hit.name}` : hit.name,
    detail: hit.detail,
    hint: hintOf(hit, host),
    score: hit.score,
    hit,
  };
}

function hintOf(hit: SearchHit, host: string | null): string {
  const where = hit.host === null || hit.host === host ? "" : hit.n_hosts > 1 ? `on ${counted(hit.n_hosts, "host")}` : hit.host;
  return hit.kind === "host" ? "" : [hit.unit ?? "", where].filter(Boolean).join(" · ");
}

/** Return the hits by kind: the kind with the best hit first, at equal fit in the order of TITLES; metrics that are not sent last. */
export function groupItems(
  own: readonly PaletteItem[],
  answer: SearchAnswer | undefined,
  host: string | null,
): readonly ItemGroup[] {
  const items = [...own, ...(answer?.hits ?? []).map((hit) => toItem(hit, host))];
  const counts = new Map<string, number>(answer?.counts.map(({ kind, n_found }) => [kind, n_found]));
  const groups = KINDS.map((kind) => ({ kind, items: items.filter((item) => item.kind === kind) })).filter(
    (group) => group.items.length > 0,
  );
  const isLast = ({ kind }: { readonly kind: ItemKind }): number => Number(kind === "other_metric");
  return groups
    .map(({ kind, items: all }) => ({
      kind,
      title:
        kind === "other_metric"
          ? host === null
            ? "Metrics that no host sends"
            : `Metrics that ${host} does not send`
          : TITLES[kind],
      items: groups.length > 1 && answer !== undefined ? all.slice(0, MAX_SHARED_ROWS) : all,
      n_found: counts.get(kind) ?? all.length,
    }))
    .sort((a, b) => isLast(a) - isLast(b) || bestOf(a.items) - bestOf(b.items));
}

function bestOf(items: readonly PaletteItem[]): number {
  return Math.min(...items.map(({ score }) => score));
}

/** Return the row that an arrow key leads to; the list is a ring. Other keys lead nowhere. */
export function nextRow(active: number, key: string, n: number): number | null {
  if (n === 0) {
    return null;
  }
  switch (key) {
    case "ArrowDown":
      return (active + 1) % n;
    case "ArrowUp":
      return (active - 1 + n) % n;
    case "PageDown":
      return Math.min(n - 1, active + 8);
    case "PageUp":
      return Math.max(0, active - 8);
    default:
      return null;
  }
}
