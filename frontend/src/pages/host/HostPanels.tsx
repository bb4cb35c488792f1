import { Button, Title } from "@mantine/core";
import { StateView } from "../../components/StateView";
import type { InstanceChoice, PanelPlan } from "../../logic/panel";
import type { GraphContext } from "./graph";
import { NoSamples } from "./NoSamples";
import { Panel } from "./Panel";
import { RecordedSections } from "./RecordedSections";
import { sectionId, SectionIndex } from "./SectionIndex";
import type { useHostPanels } from "./useHostPanels";
import type { HostViewState } from "./useHostView";
import { ViewSections } from "./ViewSections";

interface HostPanelsProps {
  readonly panels: ReturnType<typeof useHostPanels>;
  readonly graph: GraphContext;
  /** The context of the graphs of the overview: with the band of what is normal. */
  readonly overviewGraph: GraphContext;
  readonly onChoose: (plan: PanelPlan, choice: InstanceChoice) => void;
  readonly onRemove: (panel: Pick<PanelPlan, "customIndex" | "title">) => void;
  readonly onSet: HostViewState["set"];
}

/** Return the panel that has the focus, or else the pointer. Missing: null for none. */
export function panelInHand(): string | null {
  const focused = document.activeElement?.closest<HTMLElement>("[data-panel]");
  return (focused ?? document.querySelector<HTMLElement>("[data-panel]:hover"))?.dataset["panel"] ?? null;
}

/** All panels of the page: the overview with the index of the sections, and the sections; or one panel alone. */
export function HostPanels(props: HostPanelsProps) {
  const { panels, graph, overviewGraph, onChoose, onRemove, onSet } = props;
  const { lacking, isView, views, unknown, sections, viewSections, layout, alike, kept } = panels;
  if (graph.fullPanel !== null) {
    const plan = [...sections, ...viewSections].flatMap((section) => section.panels).find(({ id }) => id === graph.fullPanel);
    return (
      <FullPanel
        plan={plan ?? null}
        isLoading={isView && views.isPending}
        graph={graph}
        onChoose={onChoose}
        onRemove={onRemove}
      />
    );
  }
  const isIndexed = !isView && layout.sections.length > 0;
  return (
    <div className="host-body" data-indexed={isIndexed}>
      {isIndexed && <SectionIndex sections={sections} graph={graph} />}
      <div className="host-main">
        {lacking.map((panel) => (
          <LackingPanel key={panel.customIndex} host={graph.host} panel={panel} onRemove={onRemove} />
        ))}
        {layout.added.map((section) => (
          <section key={section.key} className="host-section" aria-label={section.title}>
            <h2>{section.title}</h2>
            <div className="host-panels">
              {section.panels.map((plan) => (
                <Panel key={plan.id} plan={plan} graph={graph} onChoose={onChoose} onRemove={onRemove} />
              ))}
            </div>
          </section>
        ))}
        {isView ? (
          <ViewSections
            sections={viewSections}
            unknown={unknown}
            error={views.error}
            graph={graph}
            onChoose={onChoose}
            onRetry={() => void views.refetch()}
            onEverything={() => {
              onSet({ viewKeys: [], fullPanel: null });
            }}
          />
        ) : views.isPending ? (
          <StateView state={{ kind: "loading" }} />
        ) : layout.overview.length > 0 ? (
          <>
            <section className="host-section host-overview" id={sectionId("overview")} aria-label="Overview">
              <h2 className="visually-hidden">Overview</h2>
              <div className="overview-panels">
                {layout.overview.map((plan) => (
                  <Panel key={plan.id} plan={plan} graph={overviewGraph} onChoose={onChoose} onRemove={onRemove} />
                ))}
              </div>
            </section>
            <RecordedSections
              sections={layout.sections}
              alike={alike}
              kept={kept}
              graph={graph}
              onChoose={onChoose}
              onRemove={onRemove}
            />
          </>
        ) : (
          sections.length === 0 && (
            <NoSamples
              onStreams={() => {
                onSet({ tab: "streams" });
              }}
            />
          )
        )}
      </div>
    </div>
  );
}

interface LackingPanelProps extends Pick<HostPanelsProps, "onRemove"> {
  readonly host: string;
  readonly panel: Pick<PanelPlan, "customIndex" | "title">;
}

/** Stands for a panel of the link that this host has never recorded, such as a series of the other host of a comparison. */
function LackingPanel({ host, panel, onRemove }: LackingPanelProps) {
  return (
    <section className="card" aria-label={panel.title}>
      <StateView
        isCompact
        state={{
          kind: "empty",
          title: `${host} has not recorded ${panel.title}`,
          next: (
            <>
              It is a series of another host, or its samples were removed.{" "}
              <button
                type="button"
                className="text-button"
                onClick={() => {
                  onRemove(panel);
                }}
              >
                Remove the panel
              </button>
            </>
          ),
        }}
      />
    </section>
  );
}

interface FullPanelProps extends Pick<HostPanelsProps, "graph" | "onChoose" | "onRemove"> {
  readonly plan: PanelPlan | null;
  readonly isLoading: boolean;
}

/** One panel as large as the window. */
function FullPanel({ plan, isLoading, graph, onChoose, onRemove }: FullPanelProps) {
  const leave = (
    <Button
      size="compact-xs"
      variant="default"
      onClick={() => {
        graph.onFull?.(null);
      }}
    >
      Show all panels (Esc)
    </Button>
  );
  return (
    <section className="host-section" aria-label="Full screen" data-full>
      <Title order={1} mb={6}>
        {graph.host}
      </Title>
      {plan !== null ? (
        <>
          <Panel plan={plan} graph={graph} onChoose={onChoose} onRemove={onRemove} />
          <div className="panel-leave">{leave}</div>
        </>
      ) : (
        <StateView
          state={
            isLoading
              ? { kind: "loading", what: "the view" }
              : {
                  kind: "empty",
                  title: `${graph.host} has no panel ${graph.fullPanel ?? ""}`,
                  next: <>The link is of another host, or of a panel that was removed. {leave}</>,
                }
          }
        />
      )}
    </section>
  );
}
