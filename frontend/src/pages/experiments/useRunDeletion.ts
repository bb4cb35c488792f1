import { useQueryClient } from "@tanstack/react-query";
import { EXPERIMENT_KEYS } from "../../api/experiments";
import { undo } from "../../state/undo";

type Act = () => Promise<unknown>;

/** Return a function that deletes a run or an experiment, says so and can undo it: the server keeps it for a day. */
export function useRunDeletion(): (act: Act, back: Act, done: string, restored: string) => void {
  const client = useQueryClient();
  const change = async (act: Act, done: string, back: (() => void) | null): Promise<void> => {
    try {
      await act();
      undo.say(done, back);
    } catch (error) {
      undo.say(error instanceof Error ? error.message : String(error), null);
    }
    await Promise.all(EXPERIMENT_KEYS.map((queryKey) => client.invalidateQueries({ queryKey })));
  };
  return (act, back, done, restored) => {
    void change(act, done, () => {
      void change(back, restored, null);
    });
  };
}
