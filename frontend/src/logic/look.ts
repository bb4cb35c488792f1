/** How a panel is drawn: its legend, axis, unit and lines. Part of the link. */

import { STATISTICS, type Statistic } from "./statistics";

export const LEGENDS = ["compact", "table"] as const;
export type LegendKind = (typeof LEGENDS)[number];

/** How bytes are counted: as the tool prints them, in powers of 1000 or of 1024. */
export const BYTE_UNITS = ["decimal", "binary"] as const;
export type ByteUnit = (typeof BYTE_UNITS)[number];

export interface LegendSort {
  readonly by: Statistic;
  readonly isDescending: boolean;
}

export interface PanelLook {
  /** Null: by the number of lines. */
  readonly legend: LegendKind | null;
  /** Null: in the order of the lines. */
  readonly sort: LegendSort | null;
  /** Keys of the lines that are not drawn. */
  readonly hidden: readonly string[];
  readonly isLog: boolean;
  /** The ends of the value axis; null: from the samples. */
  readonly low: number | null;
  readonly high: number | null;
  readonly bytes: ByteUnit | null;
  /** Null: as the catalogue says. */
  readonly isStacked: boolean | null;
  /** Each sample holds until the next one. */
  readonly isStep: boolean;
  readonly hasReferences: boolean;
  /** Pixels of the graph; null: as the view says, or as usual. */
  readonly height: number | null;
}

/** How high a graph of lines is, and how high it may be made by hand. */
export const USUAL_HEIGHT = 186;
/** The line of the legend below it, which a heatmap uses for its rows. */
export const LEGEND_LINE = 24;
export const MIN_HEIGHT = 120;
export const MAX_HEIGHT = 1200;

/** What a window holds beside the graph of a panel shown alone: toolbar, time strip, name of the host, the panel's head and legend. */
const AROUND_FULL = 385;

/** Return the height of the graph of a panel that is shown alone in a window. */
export function fullHeight(window: number, usual: number): number {
  return Math.max(usual, window - AROUND_FULL);
}

/** Return a height within the limits, in whole pixels. */
export function toHeight(pixels: number): number {
  return Math.round(Math.min(MAX_HEIGHT, Math.max(MIN_HEIGHT, pixels)));
}

export const DEFAULT_LOOK: PanelLook = {
  legend: null,
  sort: null,
  hidden: [],
  isLog: false,
  low: null,
  high: null,
  bytes: null,
  isStacked: null,
  isStep: false,
  hasReferences: true,
  height: null,
};

/** Return the legend of a panel: one line, unless the link asks for the table. */
export function legendKind(look: PanelLook): LegendKind {
  return look.legend ?? "compact";
}

/** Return what changed as text: `table:sort,-p95:log:hide,us`; empty for the default. */
export function formatLook(look: PanelLook): string {
  const parts = [
    look.legend,
    look.sort === null ? null : `sort,${look.sort.isDescending ? "-" : ""}${look.sort.by}`,
    look.isLog ? "log" : null,
    look.low === null ? null : `low,${String(look.low)}`,
    look.high === null ? null : `high,${String(look.high)}`,
    look.bytes,
    look.isStacked === null ? null : look.isStacked ? "stacked" : "apart",
    look.isStep ? "step" : null,
    look.hasReferences ? null : "plain",
    look.height === null ? null : `height,${String(look.height)}`,
    look.hidden.length === 0 ? null : ["hide", ...look.hidden.map(encodeURIComponent)].join(","),
  ];
  return parts.filter((part) => part !== null).join(":");
}

/** Parse the result of formatLook; return null if a part is invalid. */
export function parseLook(text: string): PanelLook | null {
  let look = DEFAULT_LOOK;
  for (const part of text.split(":")) {
    const change = parsePart(part);
    if (change === null) {
      return null;
    }
    look = { ...look, ...change };
  }
  return look.low !== null && look.high !== null && look.low >= look.high ? null : look;
}

function parsePart(part: string): Partial<PanelLook> | null {
  const [name = "", ...values] = part.split(",");
  const [value = ""] = values;
  switch (name) {
    case "compact":
    case "table":
      return { legend: name };
    case "decimal":
    case "binary":
      return { bytes: name };
    case "log":
      return { isLog: true };
    case "step":
      return { isStep: true };
    case "plain":
      return { hasReferences: false };
    case "stacked":
    case "apart":
      return { isStacked: name === "stacked" };
    case "sort": {
      const by = STATISTICS.find((known) => known === value.replace(/^-/, ""));
      return by === undefined ? null : { sort: { by, isDescending: value.startsWith("-") } };
    }
    case "low":
    case "high": {
      const number = parseBound(value);
      return number === null ? null : { [name]: number };
    }
    case "height": {
      const pixels = /^[1-9]\d{2,3}$/.test(value) ? Number(value) : 0;
      return pixels === toHeight(pixels) ? { height: pixels } : null;
    }
    case "hide":
      return parseNames(values);
    default:
      return null;
  }
}

/** Return a typed end of an axis. Missing: null for anything but a number. */
export function parseBound(text: string): number | null {
  const trimmed = text.trim();
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(trimmed) && Number.isFinite(Number(trimmed)) ? Number(trimmed) : null;
}

function parseNames(values: readonly string[]): Partial<PanelLook> | null {
  try {
    return values.length === 0 ? null : { hidden: values.map(decodeURIComponent) };
  } catch {
    return null;
  }
}

/** Return `<panel>:<look>` for the link. */
export function formatPanelLook([panel, look]: readonly [string, PanelLook]): string {
  return `${panel}:${formatLook(look)}`;
}

/** Parse the result of formatPanelLook. */
export function parsePanelLook(text: string): readonly [string, PanelLook] | null {
  const [, panel, rest] = /^([a-z][\w.-]{0,200}):(.+)$/s.exec(text) ?? [];
  const look = rest === undefined ? null : parseLook(rest);
  return panel === undefined || look === null ? null : [panel, look];
}

/** Return the looks with one of them changed; a look like the default is dropped. */
export function withLook(
  looks: ReadonlyMap<string, PanelLook>,
  panel: string,
  change: Partial<PanelLook>,
): ReadonlyMap<string, PanelLook> {
  const next = new Map(looks);
  const look = { ...(looks.get(panel) ?? DEFAULT_LOOK), ...change };
  if (formatLook(look) === "") {
    next.delete(panel);
  } else {
    next.set(panel, look);
  }
  return next;
}

/** Return the looks without heights given by hand. */
export function withoutHeights(looks: ReadonlyMap<string, PanelLook>): ReadonlyMap<string, PanelLook> {
  return [...looks.keys()].reduce((rest, panel) => withLook(rest, panel, { height: null }), looks);
}

/** Return the looks after an added panel was removed: those after it move up by one. */
export function withoutPanel(looks: ReadonlyMap<string, PanelLook>, index: number): ReadonlyMap<string, PanelLook> {
  return new Map(
    [...looks].flatMap(([panel, look]) => {
      const [, number, rest = ""] = /^custom-(\d+)(.*)$/.exec(panel) ?? [];
      const at = Number(number ?? -1);
      return at === index ? [] : [[at > index ? `custom-${String(at - 1)}${rest}` : panel, look] as const];
    }),
  );
}
