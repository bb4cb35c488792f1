import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { UNDO_MS, UndoStore } from "./undo";

describe("deletions that can be undone", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const made = () => {
    const sent: string[] = [];
    const store = new UndoStore();
    const remove = (key: string, error: Error | null = null): void => {
      store.remove(key, `Deleted ${key}`, () => {
        sent.push(key);
        return error === null ? Promise.resolve() : Promise.reject(error);
      });
    };
    return { sent, store, remove };
  };

  it("are not sent before the time is over, and leave the lists at once", async () => {
    const { sent, store, remove } = made();
    remove("a");
    expect([...store.get().leaving]).toEqual(["a"]);
    expect(store.get().shown?.text).toBe("Deleted a");
    await vi.advanceTimersByTimeAsync(UNDO_MS - 1);
    expect(sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent).toEqual(["a"]);
    expect(store.get().shown).toBeNull();
    expect([...store.get().leaving]).toEqual([]);
  });

  it("never reach the server once they were undone", async () => {
    const { sent, store, remove } = made();
    remove("a");
    store.get().shown?.onUndo?.();
    expect([...store.get().leaving]).toEqual([]);
    await vi.advanceTimersByTimeAsync(2 * UNDO_MS);
    expect(sent).toEqual([]);
  });

  it("are sent when the page is left, when the message is closed, and before the next one waits", async () => {
    const { sent, store, remove } = made();
    remove("a");
    remove("a");
    remove("b");
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toEqual(["a"]);
    store.flush();
    expect(sent).toEqual(["a", "b"]);
    remove("c");
    store.close(store.get().shown?.id ?? 0);
    await vi.advanceTimersByTimeAsync(UNDO_MS);
    expect(sent).toEqual(["a", "b", "c"]);
  });

  it("that the server refuses bring it back and say why", async () => {
    const { store, remove } = made();
    remove("a", new Error("a baseline uses it"));
    await vi.advanceTimersByTimeAsync(UNDO_MS);
    expect([...store.get().leaving]).toEqual([]);
    expect(store.get().shown).toMatchObject({ text: "Not deleted: a baseline uses it", onUndo: null });
  });
});
