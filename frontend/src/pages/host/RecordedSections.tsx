import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { quietStatsQuery } from "../../api/scores";
import { StateView } from "../../components/StateView";
import type { QuietStat } from "../../logic/api";
import { describeFold, foldSection, type Folded, type FoldedSection } from "../../logic/overview";
import type { InstanceChoice, PanelPlan, Section } from "../../logic/panel";
import { scoresWindow } from "../../logic/scores";
import type { GraphContext } from "./graph";
import { Panel } from "./Panel";
import { sectionId } from "./SectionIndex";

const NOTHING_QUIET: readonly QuietStat[] = [];

interface RecordedSectionsProps {
  readonly sections: readonly Section[];
  /** Ids of the panels that show what another one shows. */
  readonly alike: ReadonlySet<string>;
  readonly kept: ReadonlySet<string>;
  readonly graph: GraphContext;
  readonly onChoose: (plan: PanelPlan, choice: InstanceChoice) => void;
  readonly onRemove: (panel: Pick<PanelPlan, "customIndex" | "title">) => void;
}

/** The panels below the overview, by section; those that show nothing, or nothing new, are folded. */
export function RecordedSections({ sections, alike, kept, graph, onChoose, onRemove }: RecordedSectionsProps) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const quiet = useQuery({ ...quietStatsQuery(graph.host, scoresWindow(graph.asked)), enabled: sections.length > 0 });
  const isKnown = quiet.data !== undefined || quiet.error !== null;
  const folded = useMemo(
    () => sections.map((section) => foldSection(section, quiet.data?.stats ?? NOTHING_QUIET, alike, kept)),
    [sections, quiet.data, alike, kept],
  );
  if (sections.length === 0) {
    return null;
  }
  // Not drawn before it is known what is folded: panels that vanish would move those below them.
  return isKnown ? (
    folded.map((section) => (
      <section key={section.key} id={sectionId(section.key)} className="host-section" aria-label={section.title}>
        <h2>{section.title}</h2>
        <div className="host-panels">
          {shownPanels(section, open).map((plan) => (
            <Panel key={plan.id} plan={plan} graph={graph} onChoose={onChoose} onRemove={onRemove} />
          ))}
        </div>
        {section.folded.map((fold) => (
          <Fold
            key={fold.why}
            fold={fold}
            isOpen={open.has(`${section.key} ${fold.why}`)}
            onToggle={() => {
              setOpen(toggled(open, `${section.key} ${fold.why}`));
            }}
          />
        ))}
      </section>
    ))
  ) : (
    <StateView isCompact state={{ kind: "loading" }} />
  );
}

/** Return the panels of a section, then those of its open folds. */
function shownPanels(section: FoldedSection, open: ReadonlySet<string>): readonly PanelPlan[] {
  return [
    ...section.panels,
    ...section.folded.filter(({ why }) => open.has(`${section.key} ${why}`)).flatMap(({ panels }) => panels),
  ];
}

function toggled(open: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(open);
  if (!next.delete(key)) {
    next.add(key);
  }
  return next;
}

interface FoldProps {
  readonly fold: Folded;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

/** Names the panels that are folded, and shows them. */
function Fold({ fold, isOpen, onToggle }: FoldProps) {
  return (
    <p className="section-fold soft">
      {`${describeFold(fold)}: ${fold.panels.map(({ title }) => title).join(", ")} `}
      <button type="button" className="text-button" aria-expanded={isOpen} onClick={onToggle}>
        {isOpen ? "Hide" : "Show"}
      </button>
    </p>
  );
}
