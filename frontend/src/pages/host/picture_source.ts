/** What the picture of a panel is drawn from: what its graph was drawn from. */

import type { LegendEntry } from "../../logic/series";
import type { PanelInput } from "../../plot/figure";
import type { HeatmapInput } from "../../plot/heatmap";

export interface LinesSource {
  readonly kind: "lines";
  readonly input: PanelInput;
  /** All lines, those of an overlay and hidden ones too. */
  readonly entries: readonly LegendEntry[];
  readonly slots: ReadonlyMap<string, number>;
  readonly notes: readonly string[];
}

export interface HeatmapSource {
  readonly kind: "heatmap";
  readonly input: HeatmapInput;
}

export type PictureSource = LinesSource | HeatmapSource;
