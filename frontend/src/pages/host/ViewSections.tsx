import { Text } from "@mantine/core";
import { StateView } from "../../components/StateView";
import type { InstanceChoice, PanelPlan } from "../../logic/panel";
import type { ViewSection } from "../../logic/view";
import type { GraphContext } from "./graph";
import { Panel } from "./Panel";

interface ViewSectionsProps {
  readonly sections: readonly ViewSection[];
  /** The keys in the link that name no view. */
  readonly unknown: readonly string[];
  readonly error: Error | null;
  readonly graph: GraphContext;
  readonly onChoose: (plan: PanelPlan, choice: InstanceChoice) => void;
  readonly onRetry: () => void;
  readonly onEverything: () => void;
}

const NO_REMOVAL = (): void => undefined;

/** The panels of saved views on this host, one view below another, and what the host has nothing for. */
export function ViewSections({ sections, unknown, error, graph, onChoose, onRetry, onEverything }: ViewSectionsProps) {
  return (
    <>
      {sections.map((section) => (
        <section key={section.key} className="host-section" aria-label={section.title}>
          <h2>{section.title}</h2>
          {section.description !== "" && (
            <Text fz="sm" className="soft" mb={6}>
              {section.description}
            </Text>
          )}
          <div className="host-panels">
            {section.panels.map((plan) => (
              <div key={plan.id} className="host-panel-slot" data-wide={plan.isWide === true}>
                <Panel plan={plan} graph={graph} onChoose={onChoose} onRemove={NO_REMOVAL} />
              </div>
            ))}
          </div>
          {section.missing.length > 0 && (
            <Text fz="sm" className="soft" mt={8}>
              {`Not recorded on this host: ${section.missing.join(", ")}.`}
            </Text>
          )}
        </section>
      ))}
      {error !== null && sections.length === 0 && <StateView state={{ kind: "error", error, onRetry }} />}
      {unknown.length > 0 && (
        <StateView
          isCompact
          state={{
            kind: "empty",
            title: `No view named ${unknown.join(", ")}`,
            next: (
              <>
                It was deleted, or it is private to another account.{" "}
                <button type="button" className="text-button" onClick={onEverything}>
                  Show everything recorded
                </button>
              </>
            ),
          }}
        />
      )}
    </>
  );
}
