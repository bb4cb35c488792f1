/** The hovered and dragged part of the graphs, shared by all graphs of a page. Not part of the URL. */

import { useSyncExternalStore } from "react";
import type { EpochMs, Window } from "../logic/time";

export interface Pointer {
  /** The instant at the crosshair. */
  readonly hovered: EpochMs | null;
  /** The window being dragged, and the purpose of the drag. */
  readonly dragged: { readonly window: Window; readonly purpose: "zoom" | "mark" } | null;
  /** The panel under the pointer, and the height of the pointer in its graph, in pixels from the top. */
  readonly point: { readonly panel: string; readonly y: number } | null;
  /** The instant whose processes are shown. */
  readonly picked: EpochMs | null;
}

/** What happens when an instant is picked: by a click, or Enter at the crosshair; `panel` is undefined on the strip. */
export type OnPick = (at: EpochMs, panel: string | undefined) => void;

const NOTHING: Pointer = { hovered: null, dragged: null, point: null, picked: null };

export class PointerStore {
  private pointer: Pointer = NOTHING;
  private readonly listeners = new Set<() => void>();
  private onPick: OnPick | null = null;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly get = (): Pointer => this.pointer;

  /** Let clicks pick instants, until the returned function is called. */
  readonly letPick = (onPick: OnPick): (() => void) => {
    this.onPick = onPick;
    return () => {
      this.onPick = null;
    };
  };

  /** Pick an instant, where the page has a use for it. */
  readonly pick: OnPick = (at, panel) => {
    this.onPick?.(at, panel);
  };

  set(change: Partial<Pointer>): void {
    const next = { ...this.pointer, ...change };
    const { hovered, dragged, point, picked } = this.pointer;
    if (next.hovered !== hovered || next.dragged !== dragged || next.point !== point || next.picked !== picked) {
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
