import { api } from "../api/client";
import { useQueryClient } from "@tanstack/react-query";
import { EVENT_KEYS } from "../api/events";
import type { HostEvent } from "../logic/api";
import { undo } from "../state/undo";

const MAX_SHOWN = 60;

/** Return a function that deletes an event, says so and can undo it: the server keeps a deleted event for a day. */
export function useEventDeletion(): (event: HostEvent) => void {
  const client = useQueryClient();
  const change = async (
    act: () => Promise<unknown>,
    done: string,
    event: HostEvent,
    back: (() => void) | null,
  ): Promise<void> => {
    try {
      await act();
      undo.say(`${done} “${shorten(event.text)}”`, back);
    } catch (error) {
      undo.say(error instanceof Error ? error.message : String(error), null);
    }
    await Promise.all(EVENT_KEYS.map((queryKey) => client.invalidateQueries({ queryKey })));
  };
  return (event) => {
    const id = event.id ?? 0;
    void change(
      () => api.DELETE("/events/{id}", { params: { path: { id } } }),
      "Deleted",
      event,
      () => {
        void change(() => api.POST("/events/{id}/restore", { params: { path: { id } } }), "Restored", event, null);
      },
    );
  };
}

function shorten(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
