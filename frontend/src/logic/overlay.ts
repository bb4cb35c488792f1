/** Another time or host behind the lines of every panel: the same window a day or a week before, or of another host. */

import type { BandPiece } from "./band";
import type { SeriesBlock } from "./block";
import { type LegendEntry, piecesOf } from "./series";
import { DAY, type DurationMs, type EpochMs, toDurationMs, toEpochMs, type Window } from "./time";

export type Overlay = { readonly kind: "ago"; readonly by: DurationMs } | { readonly kind: "host"; readonly host: string };

const YESTERDAY: Overlay = { kind: "ago", by: DAY };
const LAST_WEEK: Overlay = { kind: "ago", by: toDurationMs(7 * DAY) };
const WORDS: readonly (readonly [string, Overlay])[] = [
  ["yesterday", YESTERDAY],
  ["week", LAST_WEEK],
];

/** Return an overlay for the link: `yesterday`, `week` or `host:web2`. */
export function formatOverlay(overlay: Overlay): string {
  return overlay.kind === "host" ? `host:${overlay.host}` : overlay.by === DAY ? "yesterday" : "week";
}

/** Parse the result of formatOverlay; null if it is invalid. */
export function parseOverlay(text: string): Overlay | null {
  if (text.startsWith("host:") && text.length > "host:".length && text.length <= 205) {
    return { kind: "host", host: text.slice("host:".length) };
  }
  return WORDS.find(([word]) => word === text)?.[1] ?? null;
}

/** Return what an overlay is, for legends and menus: `yesterday`, `last week`, or the host. */
export function overlayName(overlay: Overlay): string {
  const agoLabels: Readonly<Record<"day" | "week", string>> = { day: "yesterday", week: "last week" };
  return overlay.kind === "host" ? overlay.host : agoLabels[overlay.by === DAY ? "day" : "week"];
}

/** Return the window in which the overlay's samples are. */
export function overlayWindow({ start, end }: Window, overlay: Overlay): Window {
  const by = overlay.kind === "ago" ? overlay.by : 0;
  return { start: toEpochMs(Math.max(0, start - by)), end: toEpochMs(Math.max(1, end - by)) };
}

/** Return the block with its samples moved to where they are drawn. */
export function movedBlock(block: SeriesBlock, overlay: Overlay): SeriesBlock {
  const by = overlay.kind === "ago" ? overlay.by : 0;
  return by === 0
    ? block
    : { ...block, series: block.series.map((series) => ({ ...series, times: series.times.map((time) => time + by) })) };
}

/** Return the entries of an overlay's lines: their keys differ from those of the panel's own lines, and their names say what they are. */
export function overlayEntries(entries: readonly LegendEntry[], overlay: Overlay): readonly LegendEntry[] {
  return entries.map((entry) => ({
    ...entry,
    key: `${formatOverlay(overlay)} ${entry.key}`,
    name: `${entry.name}, ${overlayName(overlay)}`,
  }));
}

/** Return a line as pieces without a gap, as a band without width: dashed, behind the panel's own lines. */
export function overlayPieces({ times, values }: LegendEntry["series"]): readonly BandPiece[] {
  return piecesOf(values).map(([from, to]) => {
    const own = values.slice(from, to).map((value) => value ?? 0);
    return { times: times.slice(from, to) as EpochMs[], low: own, middle: own, high: own };
  });
}

/** Return the note under a panel: what the dashed lines are, or why there are none. */
export function describeOverlay(overlay: Overlay, nLines: number, trouble: string | null, isLoading: boolean): string {
  const name = overlayName(overlay);
  if (trouble !== null) {
    return `no data of ${name}: ${trouble}`;
  }
  if (nLines === 0) {
    return isLoading ? `${name} …` : `no samples of this panel ${overlay.kind === "host" ? `on ${name} in this window` : name}`;
  }
  return `dashed: ${name}${overlay.kind === "host" ? "" : ", the same time of day"}`;
}
