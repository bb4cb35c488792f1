/** The context of every graph on the host page: windows, bands and callbacks. */

import type { PanelLook } from "../../logic/look";
import type { Overlay } from "../../logic/overlay";
import type { Scheme } from "../../logic/palette";
import type { EpochMs, Window } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import type { EventMark } from "../../logic/event";
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
  /** Of how many lines of a panel; without it of as many as can be told apart. */
  readonly maxLines?: number;
}

/** The id of the list of events, which describes each graph that marks them. */
export const EVENTS_ID = "host-events";

export interface GraphContext {
  readonly host: string;
  /** The visible window, which moves with every key and drag. */
  readonly window: Window;
  /** The window to fetch: the visible one once it is stable. */
  readonly asked: Window;
  /** Whether the window follows the clock; then each request is finished before the next one starts. */
  readonly isLive: boolean;
  readonly zone: Zone;
  readonly scheme: Scheme;
  readonly tool: Tool;
  readonly pointer: PointerStore;
  readonly bands: readonly Band[];
  readonly bandBaseline: BandBaseline | null;
  /** Another time or host, drawn dashed behind the lines. */
  readonly overlay: Overlay | null;
  /** What happened in the visible window. */
  readonly events: readonly EventMark[];
  readonly lastSampleAt: EpochMs | null;
  /** Whether this host may have facts about its CPUs: processor sets of Solaris. */
  readonly hasCpuLabels: boolean;
  readonly onZoom: (window: Window) => void;
  /** How panels are drawn, by their ids, where that is not the default. */
  readonly looks: ReadonlyMap<string, PanelLook>;
  /** The panel that alone is shown; null for all. */
  readonly fullPanel: string | null;
  /** Null where panels cannot be shown alone. */
  readonly onFull: ((panel: string | null) => void) | null;
  readonly onLook: (panel: string, change: Partial<PanelLook>) => void;
  /** Selects a window; `panel` is the one that was dragged over, null for the strip. */
  readonly onMark: (window: Window, panel: string | null) => void;
  readonly onZoomOut: () => void;
  readonly onShow: (at: EpochMs) => void;
  /** Returns a link that shows this panel alone in a fixed window. */
  readonly linkTo: (panel: string, window: Window) => string;
}

/** Keep a press on a button of the timeline from beginning a drag of it, or from zooming out. */
export function noDrag(event: { readonly stopPropagation: () => void }): void {
  event.stopPropagation();
}
