import { useCallbackRef } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { deleteEvent, EVENT_KEYS, restoreEvent } from "../api/events";
import type { HostEvent } from "../logic/api";
import { UndoToast } from "./UndoToast";

interface EventDeletion {
  readonly remove: (event: HostEvent) => void;
  /** The message after a deletion, with the way back. */
  readonly toast: ReactNode;
}

const MAX_SHOWN = 60;

/** Return a way to delete events, which says so and can undo it. */
export function useEventDeletion(): EventDeletion {
  const client = useQueryClient();
  const [said, setSaid] = useState<{ readonly text: string; readonly undo: HostEvent | null } | null>(null);
  const refresh = (): Promise<unknown> => Promise.all(EVENT_KEYS.map((queryKey) => client.invalidateQueries({ queryKey })));
  const deleting = useMutation({
    mutationFn: (event: HostEvent) => deleteEvent(event.id ?? 0),
    onSuccess: (_, event) => {
      setSaid({ text: `Deleted “${shorten(event.text)}”`, undo: event });
    },
    onError: (error) => {
      setSaid({ text: error.message, undo: null });
    },
    onSettled: refresh,
  });
  const restoring = useMutation({
    mutationFn: (event: HostEvent) => restoreEvent(event.id ?? 0),
    onSuccess: (event) => {
      setSaid({ text: `Restored “${shorten(event.text)}”`, undo: null });
    },
    onError: (error) => {
      setSaid({ text: error.message, undo: null });
    },
    onSettled: refresh,
  });
  const close = useCallbackRef(() => {
    setSaid(null);
  });
  const undo = said?.undo ?? null;
  return {
    remove: deleting.mutate,
    toast:
      said === null ? null : (
        <UndoToast
          key={said.text}
          text={said.text}
          onUndo={
            undo === null
              ? null
              : () => {
                  restoring.mutate(undo);
                }
          }
          onClose={close}
        />
      ),
  };
}

function shorten(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
