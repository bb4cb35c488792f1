/** The only import of Plotly: its core, which includes the scatter trace, and heatmaps. Loaded with the first graph. */

import core from "plotly.js/lib/core";
import heatmap from "plotly.js/lib/heatmap";
import type { Config, Data, Layout } from "plotly.js";

interface Core {
  react(node: HTMLElement, data: readonly Data[], layout: Partial<Layout>, config: Partial<Config>): Promise<unknown>;
  toImage(
    figure: { readonly data: readonly Data[]; readonly layout: Partial<Layout>; readonly config: Partial<Config> },
    options: { readonly format: "svg"; readonly width: number; readonly height: number; readonly imageDataOnly: true },
  ): Promise<string>;
  purge(node: HTMLElement): void;
  register(modules: readonly unknown[]): void;
}

export const plotly = core as Core;
plotly.register([heatmap]);
