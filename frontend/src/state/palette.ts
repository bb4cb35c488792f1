/** Whether the palette is open and for what, and the commands that the page behind it can run. Not part of the URL. */

import { useEffect, useSyncExternalStore } from "react";
import type { Command } from "../logic/keys";

export interface PaletteState {
  /** What it looks for; null while it is closed. */
  readonly scope: "all" | "metrics" | null;
  /** Runs a command of the host page; null on other pages. */
  readonly run: ((command: Command) => void) | null;
}

let state: PaletteState = { scope: null, run: null };
const listeners = new Set<() => void>();

function change(part: Partial<PaletteState>): void {
  state = { ...state, ...part };
  for (const listener of listeners) {
    listener();
  }
}

export function openPalette(scope: "all" | "metrics"): void {
  change({ scope });
}

export function closePalette(): void {
  change({ scope: null });
}

export function usePalette(): PaletteState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

/** Offer the commands of a page in the palette while the page is shown. `run` must be stable. */
export function useCommands(run: (command: Command) => void): void {
  useEffect(() => {
    change({ run });
    return () => {
      change({ run: null });
    };
  }, [run]);
}
