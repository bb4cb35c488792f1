import { Group as Row, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { statsQuery } from "../../api/queries";
import { Ledger } from "../../components/Ledger";
import { useZone } from "../../components/zone";
import type { ComparisonInputs } from "../../logic/against";
import type { Comparison, StatInfo } from "../../logic/api";
import type { Window } from "../../logic/time";
import type { ComparisonView } from "../../state/comparison";
import { Lead } from "./Lead";
import { Results } from "./Results";
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
  readonly onNewest: () => void;
  readonly onChange: (change: Partial<ComparisonView>, isNew: boolean) => void;
}

const NO_STATS: readonly StatInfo[] = [];

/** A comparison with its result, new or saved. */
export function Compared({ comparison, inputs, incident, view, note, actions, onNewest, onChange }: ComparedProps) {
  const stats = useQuery(statsQuery).data?.stats ?? NO_STATS;
  const { clock } = view;
  const zone = useZone(clock);
  const bandId = comparison.against.baseline_id;
  const place = useMemo(() => ({ window: incident, clock, bandId }), [incident, clock, bandId]);
  useDocumentTitle(`${comparison.hosts.join(", ")} compared · normstat`);
  return (
    <>
      <Row justify="space-between" mb={6}>
        <Title order={1}>{`Changes on ${comparison.hosts.join(", ")}`}</Title>
        {actions}
      </Row>
      {note}
      <Lead comparison={comparison} place={place} zone={zone} />
      <Ledger comparison={comparison} stats={stats} window={incident} clock={clock} />
      <Sides comparison={comparison} incident={incident} zone={zone} clock={view.clock} onNewest={onNewest} />
      <Results comparison={comparison} inputs={inputs} stats={stats} view={view} place={place} zone={zone} onChange={onChange} />
    </>
  );
}
