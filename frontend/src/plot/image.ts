/** A figure as SVG, for files. */

import type { Figure } from "./figure";

/** Return the SVG of a figure, in the size of its layout. */
export async function drawSvg({ data, layout }: Figure): Promise<string> {
  const { width = 0, height = 0 } = layout;
  const { plotly } = await import("./plotly");
  return plotly.toImage({ data, layout, config: { staticPlot: true } }, { format: "svg", width, height, imageDataOnly: true });
}
