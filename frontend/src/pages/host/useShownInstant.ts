import { useCallbackRef } from "@mantine/hooks";
import { useEffect, useRef } from "react";
import type { ShownInstant } from "../../logic/process_report";
import type { PointerStore } from "../../state/pointer";

/**
 * Mark the shown instant in every graph, and let a click in one of them pick another. Returns what scrolls the graph that was clicked
 * out from under the sheet.
 */
export function useShownInstant(
  pointer: PointerStore,
  instant: ShownInstant | null,
  onInstant: (instant: ShownInstant) => void,
): () => void {
  const pick = useCallbackRef(onInstant);
  const clicked = useRef<string | null>(null);
  const stat = instant?.stat ?? null;
  const showPanel = useCallbackRef(() => {
    if (clicked.current !== null) {
      const graph = document.querySelector(`[data-panel="${CSS.escape(clicked.current)}"] .time-surface`);
      graph?.scrollIntoView({ block: "nearest" });
    }
  });
  useEffect(
    () =>
      pointer.letPick((at, panel) => {
        clicked.current = panel ?? null;
        pick({ at, stat });
        showPanel();
      }),
    [pointer, pick, stat, showPanel],
  );
  const at = instant?.at ?? null;
  useEffect(() => {
    pointer.set({ picked: at });
  }, [pointer, at]);
  return showPanel;
}
