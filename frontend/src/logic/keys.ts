/** The keyboard shortcuts of the host page: one list for the key handlers and the help dialog. */

import { words } from "../words";

export type Command =
  | "back"
  | "forward"
  | "zoom-in"
  | "zoom-out"
  | "undo"
  | "mark-tool"
  | "baseline"
  | "compare"
  | "exclude"
  | "event"
  | "processes"
  | "band"
  | "csv"
  | "live"
  | "add-panel"
  | "explore"
  | "full"
  | "cancel";

export interface Key {
  readonly command: Command;
  /** Key names as in Mantine's useHotkeys, which separates modifiers by a plus: the key itself is `[plus]`. */
  readonly keys: readonly string[];
  readonly shown: string;
  readonly help: string;
}

export const KEYS: readonly Key[] = [
  { command: "back", keys: ["ArrowLeft"], shown: "←", help: words.logic.keys.backHalfVisibleRange },
  { command: "forward", keys: ["ArrowRight"], shown: "→", help: words.logic.keys.forwardHalfVisibleRange },
  { command: "zoom-in", keys: ["[plus]", "shift+[plus]", "="], shown: "+", help: words.logic.keys.zoomIn },
  { command: "zoom-out", keys: ["-"], shown: "−", help: words.logic.keys.zoomOut },
  { command: "undo", keys: ["u"], shown: "u", help: words.logic.keys.previousViewSameBrowsers },
  { command: "live", keys: ["l"], shown: "l", help: words.logic.keys.goLiveFreezeStop },
  { command: "mark-tool", keys: ["m"], shown: "m", help: words.logic.keys.toggleSelectionToolShift },
  { command: "baseline", keys: ["b"], shown: "b", help: words.logic.keys.saveSelectionVisibleRange },
  { command: "compare", keys: ["c"], shown: "c", help: words.logic.keys.compareSelectionVisibleRange },
  { command: "exclude", keys: ["x"], shown: "x", help: words.logic.keys.excludeSelectionVisibleRange },
  { command: "event", keys: ["n"], shown: "n", help: words.logic.keys.noteEventCrosshairSelection },
  { command: "processes", keys: ["p"], shown: "p", help: words.logic.keys.showProcessesCrosshairEnd },
  { command: "band", keys: ["g"], shown: "g", help: words.logic.keys.showHideBandNewest },
  { command: "csv", keys: ["d"], shown: "d", help: words.logic.keys.exportSelectionVisibleRange },
  { command: "add-panel", keys: ["a"], shown: "a", help: words.logic.keys.addAPanel },
  { command: "explore", keys: ["e"], shown: "e", help: words.logic.keys.exploreDrawAnyMetric },
  { command: "full", keys: ["f"], shown: "f", help: words.logic.keys.fullScreenPanelPointer },
  { command: "cancel", keys: ["Escape"], shown: words.logic.keys.esc, help: words.logic.keys.leaveFullScreenClear },
];

/** The keys of every page: this help. */
export const HELP_KEYS: readonly string[] = ["shift+?", "?"];

/** The keys of every page: search for anything. Also while a field has the focus. */
export const PALETTE_KEYS: readonly string[] = ["mod+k", "mod+shift+k"];
export const PALETTE_SHOWN = words.logic.keys.ctrlK;

/** Mouse gestures on a graph, for the help dialog. */
export const GESTURES: readonly { readonly shown: string; readonly help: string }[] = [
  { shown: "drag", help: words.logic.keys.zoomIn },
  { shown: words.logic.keys.shiftDrag, help: words.logic.keys.selectTimeRangeSee },
  { shown: "click", help: words.logic.keys.showProcessesInstantTop },
  { shown: "double-click", help: words.logic.keys.zoomOut },
  { shown: words.logic.keys.clickAnEventsFlag, help: words.logic.keys.beginWindowThereShift },
  { shown: words.logic.keys.clickALegendEntry, help: words.logic.keys.hideShowLineCtrl },
];
