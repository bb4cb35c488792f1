/** The keys of the host page, as one list: for the page that obeys them and for the help that shows them. */

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
  | "band"
  | "csv"
  | "live"
  | "add-panel"
  | "cancel";

export interface Key {
  readonly command: Command;
  /** As Mantine's useHotkeys names them. */
  readonly keys: readonly string[];
  readonly shown: string;
  readonly help: string;
}

export const KEYS: readonly Key[] = [
  { command: "back", keys: ["ArrowLeft"], shown: "←", help: "half a window back" },
  { command: "forward", keys: ["ArrowRight"], shown: "→", help: "half a window forward" },
  { command: "zoom-in", keys: ["+", "shift++", "="], shown: "+", help: "zoom in" },
  { command: "zoom-out", keys: ["-"], shown: "−", help: "zoom out" },
  { command: "undo", keys: ["u"], shown: "u", help: "back to the previous window (as the browser's back)" },
  { command: "live", keys: ["l"], shown: "l", help: "follow live, or pause" },
  { command: "mark-tool", keys: ["m"], shown: "m", help: "marking tool on or off (or drag with Shift)" },
  { command: "baseline", keys: ["b"], shown: "b", help: "mark what is marked, or the window, as baseline" },
  { command: "compare", keys: ["c"], shown: "c", help: "compare what is marked, or the window, with a baseline" },
  {
    command: "exclude",
    keys: ["x"],
    shown: "x",
    help: "mark what is marked, or the window, as an incident that baselines leave out",
  },
  { command: "band", keys: ["g"], shown: "g", help: "show or hide the band of the newest baseline behind the lines" },
  { command: "csv", keys: ["d"], shown: "d", help: "download what is marked, or the window, as CSV or Parquet" },
  { command: "add-panel", keys: ["a"], shown: "a", help: "add a panel for any field" },
  { command: "cancel", keys: ["Escape"], shown: "Esc", help: "drop the mark, leave the tool, close a dialog" },
];

/** What the mouse does on a graph, for the help. */
export const GESTURES: readonly { readonly shown: string; readonly help: string }[] = [
  { shown: "drag", help: "zoom into that time" },
  { shown: "Shift + drag", help: "mark that time: baseline, comparison, CSV" },
  { shown: "double-click", help: "zoom out" },
  { shown: "click a legend entry", help: "hide or show a line; Shift-click shows it alone" },
];
