/** What is hovered and dragged right now, shared by all graphs of a page. Not in the address: a colleague need not see it. */

import { useSyncExternalStore } from "react";
import type { EpochMs, Window } from "../logic/time";

export interface Pointer {
  /** The instant under the crosshair. */
  readonly hovered: EpochMs | null;
  /** The window being dragged, and what the drag will do. */
  readonly dragged: { readonly window: Window; readonly purpose: "zoom" | "mark" } | null;
}

const NOTHING: Pointer = { hovered: null, dragged: null };

export class PointerStore {
  private pointer: Pointer = NOTHING;
  private readonly listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly get = (): Pointer => this.pointer;

  set(change: Partial<Pointer>): void {
    const next = { ...this.pointer, ...change };
    if (next.hovered !== this.pointer.hovered || next.dragged !== this.pointer.dragged) {
      this.pointer = next;
      for (const listener of this.listeners) {
        listener();
      }
    }
  }
}

export function usePointer(store: PointerStore): Pointer {
  return useSyncExternalStore(store.subscribe, store.get);
}
