import { Modal } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { AddRunDialog } from "../../components/AddRunDialog";
import { ComparisonForm } from "../../components/ComparisonForm";
import { EventDialog } from "../../components/EventDialog";
import { ExcludeDialog } from "../../components/ExcludeDialog";
import { MarkBaselineDialog } from "../../components/MarkBaselineDialog";
import type { StatInfo } from "../../logic/api";
import type { CustomPanel } from "../../logic/panel";
import type { Window } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { DEFAULT_COMPARISON_VIEW, encodeComparisonView } from "../../state/comparison";
import type { Clock } from "../../state/url";
import { AddPanelDialog } from "./AddPanelDialog";
import { ExportDialog } from "./ExportDialog";

/** An open dialog over the graphs, with the window that it applies to. */
export interface Dialog {
  readonly kind: "baseline" | "exclude" | "event" | "compare" | "csv" | "add-panel" | "run";
  /** For an event: from when to when; where both are one, a moment. */
  readonly window: Window;
}

interface GraphDialogProps {
  readonly dialog: Dialog;
  readonly host: string;
  readonly stats: readonly StatInfo[];
  readonly zone: Zone;
  readonly clock: Clock;
  readonly onAdd: (panel: CustomPanel) => void;
  readonly onClose: () => void;
}

/** The dialogs that act on a window of the host's graphs. */
export function GraphDialog({ dialog, host, stats, zone, clock, onAdd, onClose }: GraphDialogProps) {
  const navigate = useNavigate();
  const common = { host, window: dialog.window, zone, onClose };
  switch (dialog.kind) {
    case "baseline":
      return <MarkBaselineDialog hosts={[host]} window={dialog.window} zone={zone} onClose={onClose} onDone={onClose} />;
    case "exclude":
      return <ExcludeDialog {...common} />;
    case "event": {
      const { start, end } = dialog.window;
      return <EventDialog host={host} event={null} at={start} end={end > start ? end : null} zone={zone} onClose={onClose} />;
    }
    case "run":
      return <AddRunDialog host={host} window={dialog.window} onClose={onClose} />;
    case "csv":
      return <ExportDialog {...common} stats={stats} />;
    case "add-panel":
      return <AddPanelDialog host={host} window={dialog.window} stats={stats} onAdd={onAdd} onClose={onClose} />;
    case "compare":
      return (
        <Modal opened onClose={onClose} title={`Compare ${host} with a baseline`} size="lg">
          <ComparisonForm
            hosts={[host]}
            incident={dialog.window}
            against={null}
            divisor={null}
            zone={zone}
            onCancel={onClose}
            onCompare={(inputs) => {
              void navigate({
                to: "/comparison",
                search: encodeComparisonView({ ...DEFAULT_COMPARISON_VIEW, clock, ...inputs }),
              });
            }}
          />
        </Modal>
      );
  }
}
