/** What was just done and can be undone, and deletions that wait for that. One store for all pages, so that going on loses nothing. */

import { useSyncExternalStore } from "react";

export interface Undoable {
  /** Changes with each thing done. */
  readonly id: number;
  readonly text: string;
  /** The word on the button. */
  readonly action: string;
  /** Null if there is nothing to undo. */
  readonly onUndo: (() => void) | null;
}

interface Waiting {
  readonly undoable: Undoable;
  readonly timer: ReturnType<typeof setTimeout>;
  readonly send: () => Promise<unknown>;
}

interface UndoState {
  readonly shown: Undoable | null;
  /** The keys of what will be deleted: lists leave it out. */
  readonly leaving: ReadonlySet<string>;
}

/** A deletion is sent after this time, or when the page is left. */
export const UNDO_MS = 8_000;

export class UndoStore {
  private state: UndoState = { shown: null, leaving: new Set() };
  private readonly waiting = new Map<string, Waiting>();
  private readonly listeners = new Set<() => void>();
  private count = 0;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly get = (): UndoState => this.state;

  /** Say what was done, with the way back. */
  say(text: string, onUndo: (() => void) | null, action = "Undo"): Undoable {
    this.count += 1;
    const undoable = { id: this.count, text, action, onUndo };
    this.set({ ...this.state, shown: undoable });
    return undoable;
  }

  /**
   * Delete something in a moment: lists leave it out at once, Undo brings it back, and nothing is sent before. What waits is sent too
   * when something else is deleted or the page is left.
   */
  remove(key: string, text: string, send: () => Promise<unknown>): void {
    if (this.waiting.has(key)) {
      return;
    }
    this.flush();
    const undoable = this.say(text, () => {
      this.keep(key);
    });
    const timer = setTimeout(() => {
      void this.finish(key);
    }, UNDO_MS);
    this.waiting.set(key, { undoable, timer, send });
    this.set({ ...this.state, leaving: new Set([...this.state.leaving, key]) });
  }

  /** Close the message; what waits is sent. */
  close(id: number): void {
    if (this.state.shown?.id === id) {
      this.set({ ...this.state, shown: null });
    }
    this.flush();
  }

  /** Send what waits. */
  flush(): void {
    for (const key of [...this.waiting.keys()]) {
      void this.finish(key);
    }
  }

  private keep(key: string): void {
    const waiting = this.waiting.get(key);
    clearTimeout(waiting?.timer);
    this.waiting.delete(key);
    this.come(key);
    this.hide(waiting?.undoable.id);
  }

  private async finish(key: string): Promise<void> {
    const waiting = this.waiting.get(key);
    if (waiting === undefined) {
      return;
    }
    clearTimeout(waiting.timer);
    this.waiting.delete(key);
    this.hide(waiting.undoable.id);
    try {
      await waiting.send();
    } catch (error) {
      this.say(`Not deleted: ${error instanceof Error ? error.message : String(error)}`, null);
    }
    this.come(key);
  }

  /** Lists show it again: it was kept, or they no longer have it. */
  private come(key: string): void {
    this.set({ ...this.state, leaving: new Set([...this.state.leaving].filter((each) => each !== key)) });
  }

  private hide(id: number | undefined): void {
    if (this.state.shown?.id === id) {
      this.set({ ...this.state, shown: null });
    }
  }

  private set(state: UndoState): void {
    this.state = state;
    for (const listener of this.listeners) {
      listener();
    }
  }
}

export const undo = new UndoStore();

export function useUndo(): UndoState {
  return useSyncExternalStore(undo.subscribe, undo.get);
}
