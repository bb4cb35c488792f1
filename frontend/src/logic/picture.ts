/** The picture of a panel that people take with them: title, graph, legend with statistics, and what else is marked, as one SVG. */

import { inkOf, type Scheme, type Stroke } from "./palette";
import { bandShare, type Margins, pixelOfTime } from "./surface";
import { describeDuration, type EpochMs, lengthOf, type Window } from "./time";
import { formatWindow, type Zone, zoneLabel } from "./zone";
import { counted } from "./counted";

/** A row of the legend. */
export interface PictureRow {
  readonly name: string;
  readonly stroke: Stroke;
  readonly cells: readonly string[];
}

export interface PictureInput {
  readonly title: string;
  /** The lines under the title: host and stat, window and zone. */
  readonly subtitles: readonly string[];
  /** Above the value axis. */
  readonly unit: string;
  /** The SVG of the graph alone, and its size. */
  readonly graph: string;
  readonly width: number;
  readonly height: number;
  readonly margins: Margins;
  readonly window: Window;
  readonly periods: readonly { readonly kind: "baseline" | "exclusion" | "mark"; readonly window: Window }[];
  readonly events: readonly { readonly at: EpochMs; readonly text: string }[];
  /** The heads of the cells of each row. */
  readonly heads: readonly string[];
  readonly rows: readonly PictureRow[];
  readonly notes: readonly string[];
  readonly scheme: Scheme;
  /** Returns the width of a text in pixels. */
  readonly measure: (text: string, size_px: number) => number;
}

export interface Picture {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

/** The font of pictures, also to measure texts in. */
export const PICTURE_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
const PAD = 16;
const ROW = 17;
const SIZE = 11.5;
const TITLE_SIZE = 16;
const CELL = 74;
const SWATCH = 26;
// More rows than this are longer than the graph that they explain.
const MAX_ROWS = 40;
const MAX_EVENTS = 12;
const DASHES: Readonly<Record<string, string>> = { dash: "5 3", dot: "2 2", dashdot: "6 2 2 2" };

/** Return the colours of the texts: stronger than those of a graph, because a picture is shown smaller than it is. */
function textsOf(scheme: Scheme): { readonly strong: string; readonly soft: string; readonly event: string } {
  return scheme === "dark"
    ? { strong: "#e6ebf1", soft: "#a9b4c2", event: "#c7a1f2" }
    : { strong: "#1b232d", soft: "#4a5563", event: "#6f3fa6" };
}

export function escapeXml(text: string): string {
  // Control characters are not allowed in XML, escaped or not.
  return text
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** Return the text, cut to a width with an ellipsis at its end. */
export function fitText(text: string, width: number, size: number, measure: PictureInput["measure"]): string {
  if (measure(text, size) <= width) {
    return text;
  }
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(`${text.slice(0, middle)}…`, size) <= width) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return `${text.slice(0, low)}…`;
}

interface TextStyle {
  readonly size?: number;
  readonly fill: string;
  readonly anchor?: "start" | "end" | "middle";
  readonly weight?: number;
}

function textAt(x: number, y: number, text: string, { size = SIZE, fill, anchor = "start", weight = 400 }: TextStyle): string {
  const place = `x="${String(x)}" y="${String(y)}" font-size="${String(size)}"`;
  return `<text ${place} font-weight="${String(weight)}" fill="${fill}" text-anchor="${anchor}">${escapeXml(text)}</text>`;
}

/** Return a text of a part of the graph, such as the name of a small one. */
export function graphText(x: number, y: number, text: string, scheme: Scheme): string {
  return textAt(x, y, text, { fill: textsOf(scheme).strong });
}

/** Return the shaded periods behind the graph. */
function periodsOf(input: PictureInput): string {
  const { margins, width, height, window, scheme } = input;
  const ink = inkOf(scheme);
  const inner = width - margins.left - margins.right;
  return input.periods
    .flatMap(({ kind, window: period }) => {
      const share = bandShare(period, window);
      if (share === null) {
        return [];
      }
      const color = kind === "baseline" ? ink.baseline : ink.incident;
      const place = `x="${(margins.left + share.left * inner).toFixed(1)}" width="${Math.max(2, share.width * inner).toFixed(1)}"`;
      const [top, high] = [String(margins.top), String(height - margins.top - margins.bottom)];
      return [
        `<rect ${place} y="${top}" height="${high}" fill="${color}" fill-opacity="0.13"/>`,
        `<rect ${place} y="${top}" height="2" fill="${color}"/>`,
      ];
    })
    .join("");
}

/** Return the events as numbered lines over the graph. */
function eventsOf(input: PictureInput): string {
  const { margins, width, height, window, scheme } = input;
  const { event: color } = textsOf(scheme);
  return input.events
    .slice(0, MAX_EVENTS)
    .flatMap(({ at }, index) => {
      const x = pixelOfTime(at, width, margins, window)?.toFixed(1);
      return x === undefined
        ? []
        : [
            `<line x1="${x}" x2="${x}" y1="${String(margins.top)}" y2="${String(height - margins.bottom)}" stroke="${color}" stroke-dasharray="4 3"/>`,
            textAt(Number(x), margins.top - 3, String(index + 1), { size: 10, fill: color, anchor: "middle", weight: 600 }),
          ];
    })
    .join("");
}

/** Return the legend from a height on, and its own height. */
function legendFrom(input: PictureInput, top: number): { readonly svg: string; readonly height: number } {
  const { rows, heads, width, scheme, measure } = input;
  if (rows.length === 0) {
    return { svg: "", height: 0 };
  }
  const { strong, soft } = textsOf(scheme);
  const ink = inkOf(scheme);
  const right = (index: number): number => width - PAD - (heads.length - 1 - index) * CELL;
  const nameWidth = right(0) - CELL - PAD - SWATCH;
  const parts = heads.map((head, index) => textAt(right(index), top + ROW - 5, head, { fill: soft, anchor: "end" }));
  parts.push(
    `<line x1="${String(PAD)}" x2="${String(width - PAD)}" y1="${String(top + ROW)}" y2="${String(top + ROW)}" stroke="${ink.grid}"/>`,
  );
  for (const [index, { name, stroke, cells }] of rows.slice(0, MAX_ROWS).entries()) {
    const base = top + (index + 2) * ROW - 4;
    const dash = DASHES[stroke.dash] === undefined ? "" : ` stroke-dasharray="${DASHES[stroke.dash] ?? ""}"`;
    parts.push(
      `<line x1="${String(PAD)}" x2="${String(PAD + 18)}" y1="${String(base - 4)}" y2="${String(base - 4)}" stroke="${stroke.color}" stroke-width="3"${dash}/>`,
      textAt(PAD + SWATCH, base, fitText(name, nameWidth, SIZE, measure), { fill: strong }),
      ...cells.map((cell, column) => textAt(right(column), base, cell, { fill: strong, anchor: "end" })),
    );
  }
  const nShown = Math.min(rows.length, MAX_ROWS);
  const more = rows.length - nShown;
  if (more > 0) {
    parts.push(textAt(PAD + SWATCH, top + (nShown + 2) * ROW - 4, `and ${counted(more, "more line")}`, { fill: soft }));
  }
  return { svg: parts.join(""), height: (nShown + 1 + Number(more > 0)) * ROW + 8 };
}

/** Return the picture. */
export function buildPicture(input: PictureInput): Picture {
  const { width, scheme, measure } = input;
  const { strong, soft, event } = textsOf(scheme);
  const inner = width - 2 * PAD;
  const head = [
    textAt(PAD, PAD + TITLE_SIZE - 2, fitText(input.title, inner, TITLE_SIZE, measure), {
      size: TITLE_SIZE,
      fill: strong,
      weight: 600,
    }),
    ...input.subtitles.map((text, index) =>
      textAt(PAD, PAD + TITLE_SIZE + (index + 1) * ROW - 2, fitText(text, inner, SIZE, measure), { fill: soft }),
    ),
  ];
  const top = PAD + TITLE_SIZE + input.subtitles.length * ROW + 10;
  const legend = legendFrom(input, top + input.height + 6);
  let y = top + input.height + 6 + legend.height;
  const left = input.events.length - MAX_EVENTS;
  const texts = [
    ...input.events.slice(0, MAX_EVENTS).map(({ text }, index) => ({ text: `(${String(index + 1)}) ${text}`, fill: event })),
    ...(left > 0 ? [{ text: `and ${counted(left, "more event")}`, fill: event }] : []),
    ...input.notes.map((text) => ({ text, fill: soft })),
  ];
  const foot = texts.map(({ text, fill }) => {
    y += ROW;
    return textAt(PAD, y - 4, fitText(text, inner, SIZE, measure), { fill });
  });
  const height = y + PAD;
  const size = `width="${String(width)}" height="${String(height)}" viewBox="0 0 ${String(width)} ${String(height)}"`;
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${size} font-family="${escapeXml(PICTURE_FONT)}">`,
    `<title>${escapeXml([input.title, ...input.subtitles].join(", "))}</title>`,
    `<rect width="100%" height="100%" fill="${inkOf(scheme).background}"/>`,
    ...head,
    `<g transform="translate(0, ${String(top)})">`,
    periodsOf(input),
    input.graph,
    textAt(input.margins.left, input.margins.top - 8, input.unit, { size: 11, fill: soft, anchor: "end" }),
    eventsOf(input),
    "</g>",
    legend.svg,
    ...foot,
    "</svg>",
  ].join("");
  return { svg, width, height };
}

/** Return the line of a picture that says when it is about: `2026-11-22 06:45:00 – 07:00:00 UTC, 15 min`. */
export function describeTimes(zone: Zone, window: Window): string {
  const zoneName = zone === "UTC" ? "" : ` (${zone})`;
  return `${formatWindow(zone, window)} ${zoneLabel(zone, window.end)}${zoneName}, ${describeDuration(lengthOf(window))}`;
}

/** Return the name of a file about a panel: `web1-mpstat_linux.cpu-20261122T064500Z-20261122T070000Z.png`. */
export function pictureName(host: string, panel: string, { start, end }: Window, ending: string): string {
  const compact = (at: EpochMs): string => `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
  return `${[host, panel, compact(start), compact(end)].join("-").replaceAll(/[^\w.-]/g, "_")}.${ending}`;
}
