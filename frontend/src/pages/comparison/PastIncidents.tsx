import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { recallQuery } from "../../api/past";
import { CauseDialog } from "../../components/CauseDialog";
import { mayWrite, useMe } from "../../components/me";
import { PastLink } from "../../components/PastLink";
import type { ComparisonInputs } from "../../logic/against";
import type { PastIncident } from "../../logic/api";
import { describeAlike, describePast, mostTelling } from "../../logic/past";
import { formatCount } from "../../logic/number";
import type { Zone } from "../../logic/zone";
import type { Clock } from "../../state/url";

interface PastIncidentsProps {
  /** The inputs of a comparison, or the number of a saved one. */
  readonly of: ComparisonInputs | number;
  readonly zone: Zone;
  readonly clock: Clock;
}

/** What the incident looks like: one line, the nearest past incidents folded, and the cause of this one, which can be named. */
export function PastIncidents({ of, zone, clock }: PastIncidentsProps) {
  const { data: recall } = useQuery(recallQuery(of));
  // A line is kept free, so that nothing moves when the answer comes.
  if (recall === undefined) {
    return <div className="past" aria-hidden />;
  }
  const first = mostTelling(recall);
  return (
    <section className="past" aria-label="Past incidents">
      {recall.own !== null && <OwnCause incident={recall.own} />}
      {first === null ? (
        // An incident whose cause is known needs no other to explain it.
        recall.n_looked_at > 0 &&
        (recall.own?.cause ?? "") === "" && (
          <span className="soft">{`Unlike all ${formatCount(recall.n_looked_at)} past incidents.`}</span>
        )
      ) : (
        <details className="answer-fold">
          <summary>
            {"Looks like "}
            <b>{describeAlike(zone, first)}</b>
            {`: ${describePast(first.incident)}`}
          </summary>
          <ol className="past-list">
            {recall.alike.map((alike) => (
              <li key={alike.incident.id}>
                <PastLink incident={alike.incident} clock={clock}>
                  {describeAlike(zone, alike)}
                </PastLink>
                {`: ${describePast(alike.incident)}`}
                {alike.incident.sentence !== "" && <div className="soft">{alike.incident.sentence}</div>}
              </li>
            ))}
          </ol>
        </details>
      )}
    </section>
  );
}

/** The cause of the incident itself. */
function OwnCause({ incident }: { readonly incident: PastIncident }) {
  const [isNaming, setNaming] = useState(false);
  const isWriter = mayWrite(useMe());
  const { cause, remedy } = incident;
  return (
    <div className="past-own">
      {cause !== "" && (
        <span>
          <b>Cause:</b> {cause}
          {remedy !== "" && (
            <>
              {" · "}
              <b>What helped:</b> {remedy}
            </>
          )}
        </span>
      )}
      {isWriter && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => {
            setNaming(true);
          }}
        >
          {cause === "" ? "Name the cause…" : "Change…"}
        </Button>
      )}
      {isNaming && (
        <CauseDialog
          incident={incident}
          onClose={() => {
            setNaming(false);
          }}
        />
      )}
    </div>
  );
}
