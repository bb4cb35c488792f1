import { api } from "../api/client";
import { useQueryClient } from "@tanstack/react-query";
import { ARTEFACT_KEYS } from "../api/artefacts";
import type { Artefact } from "../logic/api";
import { nameOf } from "../logic/artefact";
import { undo } from "../state/undo";

const MAX_SHOWN = 60;

interface ArtefactDeletion {
  /** Deletes an artefact, says so and can undo it: the server keeps a deleted artefact for a day. */
  readonly remove: (artefact: Artefact) => void;
}

/** Return a way to delete artefacts that can be undone. */
export function useArtefactDeletion(): ArtefactDeletion {
  const client = useQueryClient();
  const change = async (act: () => Promise<unknown>, text: string, back: (() => void) | null): Promise<void> => {
    try {
      await act();
      undo.say(text, back);
    } catch (error) {
      undo.say(error instanceof Error ? error.message : String(error), null);
    }
    await Promise.all(ARTEFACT_KEYS.map((queryKey) => client.invalidateQueries({ queryKey })));
  };
  return {
    remove: (artefact) => {
      const full = nameOf(artefact);
      const name = full.length <= MAX_SHOWN ? full : `${full.slice(0, MAX_SHOWN)}…`;
      void change(
        () => api.DELETE("/artefacts/{id}", { params: { path: { id: artefact.id } } }),
        `Deleted the artefact “${name}”`,
        () => {
          void change(
            () => api.POST("/artefacts/{id}/restore", { params: { path: { id: artefact.id } } }),
            `Restored the artefact “${name}”`,
            null,
          );
        },
      );
    },
  };
}
