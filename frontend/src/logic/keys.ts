/** The keyboard shortcuts of the host page: one list for the key handlers and the help dialog. */

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
  { command: "back", keys: ["ArrowLeft"], shown: "←", help: "back by half the visible range" },
  { command: "forward", keys: ["ArrowRight"], shown: "→", help: "forward by half the visible range" },
  { command: "zoom-in", keys: ["[plus]", "shift+[plus]", "="], shown: "+", help: "zoom in" },
  { command: "zoom-out", keys: ["-"], shown: "−", help: "zoom out" },
  { command: "undo", keys: ["u"], shown: "u", help: "previous view (same as the browser's Back)" },
  { command: "live", keys: ["l"], shown: "l", help: "go live, or freeze: stop here, with these times in the link" },
  { command: "mark-tool", keys: ["m"], shown: "m", help: "toggle the selection tool (or Shift + drag)" },
  { command: "baseline", keys: ["b"], shown: "b", help: "save the selection (or the visible range) as a baseline" },
  { command: "compare", keys: ["c"], shown: "c", help: "compare the selection (or the visible range) with a baseline" },
  { command: "exclude", keys: ["x"], shown: "x", help: "exclude the selection (or the visible range) from baselines" },
  { command: "event", keys: ["n"], shown: "n", help: "note an event at the crosshair (or for the selection)" },
  {
    command: "processes",
    keys: ["p"],
    shown: "p",
    help: "show the processes at the crosshair (or at the end of the visible range)",
  },
  { command: "band", keys: ["g"], shown: "g", help: "show or hide the band of the newest baseline" },
  { command: "csv", keys: ["d"], shown: "d", help: "export the selection (or the visible range) as CSV or Parquet" },
  { command: "add-panel", keys: ["a"], shown: "a", help: "add a panel" },
  { command: "explore", keys: ["e"], shown: "e", help: "explore: draw any metric without adding a panel" },
  { command: "full", keys: ["f"], shown: "f", help: "full screen of the panel with the pointer or the focus, and back" },
  {
    command: "cancel",
    keys: ["Escape"],
    shown: "Esc",
    help: "leave full screen, clear the selection, leave the tool, close a dialog",
  },
];

/** The keys of every page: this help. */
export const HELP_KEYS: readonly string[] = ["shift+?", "?"];

/** The keys of every page: search for anything. Also while a field has the focus. */
export const PALETTE_KEYS: readonly string[] = ["mod+k", "mod+shift+k"];
export const PALETTE_SHOWN = "Ctrl K";

/** Mouse gestures on a graph, for the help dialog. */
export const GESTURES: readonly { readonly shown: string; readonly help: string }[] = [
  { shown: "drag", help: "zoom in" },
  { shown: "Shift + drag", help: "select a time range, and see its statistics beside those of a baseline" },
  { shown: "click", help: "show the processes at that instant, as top would have (Enter at the crosshair)" },
  { shown: "double-click", help: "zoom out" },
  { shown: "click an event's flag", help: "begin a window there; Shift-click another flag ends it" },
  { shown: "click a legend entry", help: "hide or show a line; Ctrl-click shows only that line" },
];
