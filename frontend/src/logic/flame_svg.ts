/** A flame graph as an SVG file that stands alone: no script, no style from elsewhere, every name escaped. */

import type { FlameLayout, FlameNodes } from "./flame";
import { nameAt } from "./flame";

const ROW = 18;
const HEAD = 34;
const FOOT = 22;
const CHARACTER = 6.6;
const MIN_WIDTH = 0.3;

export interface FlamePicture {
  readonly title: string;
  readonly note: string;
  readonly width: number;
  readonly isUp: boolean;
  readonly fill: (index: number) => string;
  readonly label: (index: number) => string;
  readonly describe: (index: number) => string;
}

/** Return text as it may stand in XML: escaped, without characters that XML has none of. */
export function escapeXml(text: string): string {
  return text
    .replace(
      /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
      "\ufffd",
    )
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** Return as much of a label as fits, with an ellipsis where it is cut; "" where not even three characters do. */
export function fitLabel(label: string, width: number, character: number): string {
  const most = Math.floor((width - 6) / character);
  if (most < 3) {
    return "";
  }
  return label.length <= most ? label : `${label.slice(0, most - 1)}…`;
}

/** Return the SVG. */
export function flameSvg(nodes: FlameNodes, layout: FlameLayout, picture: FlamePicture): string {
  const { width, isUp } = picture;
  const height = HEAD + layout.rows.length * ROW + FOOT;
  const frames = layout.rows.flatMap((row, depth) =>
    row.flatMap((index) => {
      const size = (layout.width[index] ?? 0) * width;
      if (size < MIN_WIDTH) {
        return [];
      }
      const left = (layout.x[index] ?? 0) * width;
      const top = HEAD + (isUp ? layout.rows.length - 1 - depth : depth) * ROW;
      const label = fitLabel(picture.label(index), size, CHARACTER);
      const text = label === "" ? "" : `<text x="${fixed(left + 3)}" y="${fixed(top + 12.5)}">${escapeXml(label)}</text>`;
      const title = `<title>${escapeXml(`${nameAt(nodes, index)}\n${picture.describe(index)}`)}</title>`;
      const box = `<rect x="${fixed(left)}" y="${fixed(top)}" width="${fixed(Math.max(MIN_WIDTH, size - 0.5))}" height="${String(ROW - 1)}" fill="${escapeXml(picture.fill(index))}"/>`;
      return [`<g>${title}${box}${text}</g>`];
    }),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${String(width)}" height="${String(height)}" viewBox="0 0 ${String(width)} ${String(height)}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="11">`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    `<text x="6" y="21" font-size="14" font-family="system-ui, sans-serif">${escapeXml(picture.title)}</text>`,
    ...frames,
    `<text x="6" y="${String(height - 7)}" fill="#55606e" font-family="system-ui, sans-serif">${escapeXml(picture.note)}</text>`,
    "</svg>",
  ].join("\n");
}

function fixed(value: number): string {
  return String(Math.round(value * 100) / 100);
}
