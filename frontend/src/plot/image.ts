/** A figure as SVG, for files. */

import { PICTURE_FONT } from "../logic/picture";
import type { Figure } from "./figure";

/** Return a function that tells the width of a text in a picture, in pixels. */
export function textMeasure(): (text: string, size: number) => number {
  const measured = document.createElement("canvas").getContext("2d");
  return (text, size) => {
    if (measured === null) {
      return text.length * size;
    }
    measured.font = `${String(size)}px ${PICTURE_FONT}`;
    return measured.measureText(text).width;
  };
}

/** Return the SVG of a figure, in the size of its layout. */
export async function drawSvg({ data, layout }: Figure): Promise<string> {
  const { width = 0, height = 0 } = layout;
  const { plotly } = await import("./plotly");
  return plotly.toImage({ data, layout, config: { staticPlot: true } }, { format: "svg", width, height, imageDataOnly: true });
}
