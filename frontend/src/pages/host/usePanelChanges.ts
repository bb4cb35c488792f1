import { useCallbackRef } from "@mantine/hooks";
import { withoutPanel } from "../../logic/look";
import { choiceKey, type InstanceChoice, type PanelPlan } from "../../logic/panel";
import type { Range } from "../../logic/range";
import { formatWindow, type Zone, zoneLabel } from "../../logic/zone";
import { undo } from "../../state/undo";
import type { HostViewState } from "./useHostView";

/** Return what changes the panels in the link: stable functions, so that panels render only when their window changes. */
export function usePanelChanges({ view, set }: HostViewState) {
  const changePanel = useCallbackRef((plan: PanelPlan, choice: InstanceChoice) => {
    if (plan.customIndex === null) {
      set({ choices: new Map([...view.choices, [choiceKey(plan), choice]]) });
    } else {
      set({ panels: view.panels.map((panel, index) => (index === plan.customIndex ? { ...panel, choice } : panel)) });
    }
  });
  const putBack = useCallbackRef((index: number, panels: typeof view.panels, looks: typeof view.looks) => {
    // Only where nothing else changed the panels: else the one that was removed is added again.
    const removed = panels[index];
    const isSame = view.panels.length === panels.length - 1;
    if (removed !== undefined) {
      set(isSame ? { panels, looks } : { panels: [...view.panels, removed] });
    }
  });
  const removePanel = useCallbackRef((plan: Pick<PanelPlan, "customIndex" | "title">) => {
    const { panels, looks } = view;
    const { customIndex } = plan;
    if (customIndex !== null) {
      set({
        fullPanel: null,
        panels: panels.filter((_, index) => index !== customIndex),
        looks: withoutPanel(looks, customIndex),
      });
      undo.say(`Removed the panel ${plan.title}`, () => {
        putBack(customIndex, panels, looks);
      });
    }
  });
  return { changePanel, removePanel };
}

/** Say that the page no longer moves, and that its link is that of a fixed window. */
export function sayFrozen(range: Range, zone: Zone, onLive: () => void): void {
  if (range.kind === "fixed") {
    const times = `${formatWindow(zone, range.window)} ${zoneLabel(zone, range.window.end)}`;
    undo.say(`Frozen at ${times}. The link now shows these times to everybody.`, onLive, "Go live again");
  }
}
