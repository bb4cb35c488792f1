import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import { statsQuery } from "../../api/queries";
import { useZone } from "../../components/zone";
import type { ComparisonInputs } from "../../logic/against";
import type { Comparison, StatInfo } from "../../logic/api";
import { byRank } from "../../logic/story";
import type { Window } from "../../logic/time";
import type { ComparisonView } from "../../state/comparison";
import { AnswerView } from "./AnswerView";
import { ChangeList, type WantedGroup } from "./ChangeList";
import { Sides } from "./Sides";

interface ComparedProps {
  readonly comparison: Comparison;
  /** Null: a saved comparison, whose series are not kept. */
  readonly inputs: ComparisonInputs | null;
  readonly incident: Window;
  readonly view: ComparisonView;
  /** Shown below the title: progress, or the note of a saved comparison. */
  readonly note: ReactNode;
  readonly actions: ReactNode;
  /** What the incident looks like, below the sentence. */
  readonly past: ReactNode;
  readonly onNewest: () => void;
  readonly onChange: (change: Partial<ComparisonView>, isNew: boolean) => void;
}

const NO_STATS: readonly StatInfo[] = [];
/** What a list without any filter has. */
const UNFILTERED = { chips: [], filter: "", onlyHosts: [], subsystems: [], kinds: [] } as const;

/** A comparison with its result, new or saved: the answer, then both sides, then all changes. */
export function Compared({ comparison, inputs, incident, view, note, actions, past, onNewest, onChange }: ComparedProps) {
  const stats = useQuery(statsQuery).data?.stats ?? NO_STATS;
  const [wanted, setWanted] = useState<WantedGroup | null>(null);
  const { clock } = view;
  const zone = useZone(clock);
  const bandId = comparison.against.baseline_id;
  const place = useMemo(() => ({ window: incident, clock, bandId }), [incident, clock, bandId]);
  const ranked = useMemo(() => byRank(comparison.groups), [comparison.groups]);
  useDocumentTitle(`${comparison.hosts.join(", ")} compared · normstat`);
  return (
    <>
      <div className="comparison-head">
        <h1>{`Changes on ${comparison.hosts.join(", ")}`}</h1>
        {actions}
      </div>
      {note}
      <AnswerView
        comparison={comparison}
        ranked={ranked}
        stats={stats}
        place={place}
        zone={zone}
        align={view.align}
        past={past}
        onGroup={(rank) => {
          onChange(UNFILTERED, false);
          setWanted({ rank });
        }}
      />
      <Sides comparison={comparison} incident={incident} zone={zone} clock={view.clock} onNewest={onNewest} />
      <ChangeList
        comparison={comparison}
        inputs={inputs}
        stats={stats}
        view={view}
        place={place}
        zone={zone}
        wanted={wanted}
        onChange={onChange}
      />
    </>
  );
}
