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

/** What is typed before the palette is on the screen: it belongs to the palette, not to the keys of the page. */
let typed: string[] | null = null;

function keep(event: KeyboardEvent): void {
  const isPrinted = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (isPrinted || event.key === "Enter") {
    event.preventDefault();
    event.stopImmediatePropagation();
    typed?.push(event.key);
  } else if (event.key === "Escape") {
    closePalette();
  }
}

/** Return what was typed since the palette was asked for, and whether Enter came after it. From now on its input has the keys. */
export function takeTyped(): { readonly text: string; readonly isConfirmed: boolean } {
  window.removeEventListener("keydown", keep, true);
  const keys = typed ?? [];
  typed = null;
  const end = keys.indexOf("Enter");
  return { text: (end < 0 ? keys : keys.slice(0, end)).join(""), isConfirmed: end >= 0 };
}

export function openPalette(scope: "all" | "metrics"): void {
  if (state.scope === null && typed === null) {
    typed = [];
    window.addEventListener("keydown", keep, true);
  }
  change({ scope });
}

export function closePalette(): void {
  takeTyped();
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
