/** What every graph of the host page is given: where it looks, and what the page does with what people do to it. */

import type { Scheme } from "../../logic/palette";
import type { EpochMs, Window } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import type { PointerStore } from "../../state/pointer";

export type Tool = "zoom" | "mark";

/** A period drawn behind the lines. */
export interface Band {
  readonly key: string;
  readonly kind: "baseline" | "exclusion" | "mark";
  readonly label: string;
  readonly window: Window;
}

/** The baseline whose band is drawn behind the lines. */
export interface BandBaseline {
  readonly id: number;
  readonly name: string;
}

export interface GraphContext {
  readonly host: string;
  /** What is shown: it moves with every key and drag. */
  readonly window: Window;
  /** What is asked of the server: the same, as soon as it stands still. */
  readonly asked: Window;
  /** The window follows the clock: what is asked runs to its end before the next is. */
  readonly isLive: boolean;
  readonly zone: Zone;
  readonly scheme: Scheme;
  readonly tool: Tool;
  readonly pointer: PointerStore;
  readonly bands: readonly Band[];
  readonly bandBaseline: BandBaseline | null;
  readonly lastSampleAt: EpochMs | null;
  readonly onZoom: (window: Window) => void;
  readonly onMark: (window: Window) => void;
  readonly onZoomOut: () => void;
  readonly onShow: (at: EpochMs) => void;
}
