import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { undo, useUndo } from "../state/undo";

interface Deletion {
  /** Deletes a thing in a moment; until then Undo brings it back. */
  readonly remove: (id: number | string, text: string, send: () => Promise<unknown>) => void;
  /** Return the things that are not deleted. */
  readonly remaining: <T>(things: readonly T[], idOf: (thing: T) => number | string) => readonly T[];
}

/** Return a way to delete things of a kind that can be undone; `keys` are the queries that show them. */
export function useDeletion(kind: string, keys: readonly QueryKey[]): Deletion {
  const client = useQueryClient();
  const { leaving } = useUndo();
  const keyOf = (id: number | string): string => `${kind} ${String(id)}`;
  return {
    remove: (id, text, send) => {
      undo.remove(keyOf(id), text, async () => {
        try {
          await send();
        } finally {
          await Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })));
        }
      });
    },
    remaining: (things, idOf) => things.filter((thing) => !leaving.has(keyOf(idOf(thing)))),
  };
}
