/** How a flame graph is shown, as one parameter of the URL: `part.2~dir.up~focus.12.5`. Pure. */

import type { FlameOrder, FlameWidths } from "../logic/flame";

export const FLAME_TABS = ["graph", "functions", "threads"] as const;
export type FlameTab = (typeof FLAME_TABS)[number];
const DIRECTIONS = ["down", "up"] as const;
export type FlameDirection = (typeof DIRECTIONS)[number];
export const FLAME_THREADS = ["named", "each", "none"] as const;
export type FlameThreads = (typeof FLAME_THREADS)[number];
export const FLAME_WIDTHS = ["both", "before", "after"] as const;
export const FLAME_SCALINGS = ["duration", "total", "none"] as const;
export type FlameScaling = (typeof FLAME_SCALINGS)[number];

export interface FlameView {
  /** The part that it is of; of several flame graphs on a page one is as the link says. */
  readonly part: string;
  readonly tab: FlameTab;
  /** "" for the column that the part is ranked by. */
  readonly column: string;
  readonly direction: FlameDirection;
  readonly threads: FlameThreads;
  readonly thread: string | null;
  readonly search: string;
  readonly focus: readonly number[];
  /** The function whose callers and callees are shown. */
  readonly called: number | null;
  /** The root at the bottom, as flames; else at the top, as icicles. */
  readonly isFlame: boolean;
  readonly order: FlameOrder;
  readonly byTotal: boolean;
  readonly widths: FlameWidths;
  /** null: by duration where it is known, else by total. */
  readonly scaling: FlameScaling | null;
}

export const DEFAULT_FLAME: FlameView = {
  part: "",
  tab: "graph",
  column: "",
  direction: "down",
  threads: "named",
  thread: null,
  search: "",
  focus: [],
  called: null,
  isFlame: false,
  order: "wide",
  byTotal: false,
  widths: "both",
  scaling: null,
};

/** Return the parameter; "" for the view that is shown without one. */
export function encodeFlame(view: FlameView): string {
  const said = [
    view.tab === "graph" ? "" : `tab.${view.tab}`,
    view.column === "" ? "" : `by.${encodeURIComponent(view.column)}`,
    view.direction === "down" ? "" : "dir.up",
    view.threads === "named" ? "" : `threads.${view.threads}`,
    view.thread === null ? "" : `thread.${escapeText(view.thread)}`,
    view.search === "" ? "" : `find.${escapeText(view.search)}`,
    view.focus.length === 0 ? "" : `focus.${view.focus.join(".")}`,
    view.called === null ? "" : `function.${String(view.called)}`,
    view.isFlame ? "look.flame" : "",
    view.order === "wide" ? "" : "order.name",
    view.byTotal ? "rank.total" : "",
    view.widths === "both" ? "" : `width.${view.widths}`,
    view.scaling === null ? "" : `scale.${view.scaling}`,
  ].filter((text) => text !== "");
  return said.length === 0 ? "" : [`part.${view.part}`, ...said].join("~");
}

// Half of a character, which no URL can hold.
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function escapeText(text: string): string {
  return encodeURIComponent(text.replace(LONE_SURROGATE, "\ufffd")).replaceAll("~", "%7E");
}

const MAX_NUMBER = 2 ** 31;

function isId(text: string): boolean {
  return /^\d{1,10}$/.test(text) && Number(text) < MAX_NUMBER;
}

/** Return the view that a parameter says. Missing: null where it cannot be read. */
export function decodeFlame(text: string): FlameView | null {
  let view = DEFAULT_FLAME;
  for (const said of text.split("~")) {
    const dot = said.indexOf(".");
    const change = dot < 0 ? null : decodeOne(said.slice(0, dot), said.slice(dot + 1));
    if (change === null) {
      return null;
    }
    view = { ...view, ...change };
  }
  return view;
}

function decodeOne(key: string, value: string): Partial<FlameView> | null {
  switch (key) {
    case "part":
      return /^[\d:,]{1,60}$/.test(value) ? { part: value } : null;
    case "tab":
      return wrap(FLAME_TABS, value, (tab) => ({ tab }));
    case "by":
      return /^\w{1,63}$/.test(value) ? { column: value } : null;
    case "dir":
      return wrap(DIRECTIONS, value, (direction) => ({ direction }));
    case "threads":
      return wrap(FLAME_THREADS, value, (threads) => ({ threads }));
    case "thread":
      return withText(value, (thread) => ({ thread }));
    case "find":
      return withText(value, (search) => ({ search }));
    case "focus":
      return value.split(".").every(isId) ? { focus: value.split(".").map(Number) } : null;
    case "function":
      return isId(value) ? { called: Number(value) } : null;
    case "look":
      return value === "flame" ? { isFlame: true } : null;
    case "order":
      return value === "name" ? { order: "name" } : null;
    case "rank":
      return value === "total" ? { byTotal: true } : null;
    case "width":
      return wrap(FLAME_WIDTHS, value, (widths) => ({ widths }));
    case "scale":
      return wrap(FLAME_SCALINGS, value, (scaling) => ({ scaling }));
    default:
      return null;
  }
}

function wrap<T extends string>(
  known: readonly T[],
  value: string,
  to: (found: T) => Partial<FlameView>,
): Partial<FlameView> | null {
  const found = known.find((each) => each === value);
  return found === undefined ? null : to(found);
}

function withText(value: string, to: (text: string) => Partial<FlameView>): Partial<FlameView> | null {
  try {
    return to(decodeURIComponent(value));
  } catch {
    return null;
  }
}

/** Return how a part is shown: as the link says if it speaks of it. */
export function flameOf(parameter: string | readonly string[] | undefined, part: string): FlameView {
  const found = typeof parameter === "string" ? decodeFlame(parameter) : null;
  return found?.part === part ? found : { ...DEFAULT_FLAME, part };
}
