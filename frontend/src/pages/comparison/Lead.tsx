import { useMemo } from "react";
import { PageLink } from "../../components/PageLink";
import type { Circumstance, Comparison } from "../../logic/api";
import { byRank, describeSentence, describeTimes, storiesOf } from "../../logic/story";
import type { Zone } from "../../logic/zone";
import { circumstanceLink, type Place } from "./link";

interface LeadProps {
  readonly comparison: Comparison;
  readonly place: Place;
  readonly zone: Zone;
}

/** The answer in one paragraph, what else happened around it, and in small print how far it can be trusted. */
export function Lead({ comparison, place, zone }: LeadProps) {
  const [first] = storiesOf(comparison);
  const ranked = useMemo(() => byRank(comparison.groups), [comparison.groups]);
  const notes = comparison.notes ?? [];
  return (
    <>
      {first ? (
        <p className="lead" title={describeSentence(first, ranked)}>
          {first.sentence}
        </p>
      ) : (
        comparison.groups.length > 0 && <p className="lead">{comparison.verdict}</p>
      )}
      <Circumstances circumstances={comparison.circumstances ?? []} place={place} zone={zone} />
      {notes.length > 0 && (
        <ul className="lead-notes soft" aria-label="Notes">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </>
  );
}

interface CircumstancesProps {
  readonly circumstances: readonly Circumstance[];
  readonly place: Place;
  readonly zone: Zone;
}

/** Events near the onset, tools that disturbed the host and missing data, each with a link to where it is shown. */
function Circumstances({ circumstances, place, zone }: CircumstancesProps) {
  return circumstances.length === 0 ? null : (
    <ul className="circumstances" aria-label="Around the incident">
      {circumstances.map((one) => (
        <li key={`${one.host} ${one.sentence} ${String(one.start_ms)}`} data-kind={one.kind}>
          <span className="circumstance-time soft">{describeTimes(one, place.window, zone)}</span>
          <PageLink to="/hosts/$host" params={{ host: one.host }} search={circumstanceLink(one, place)} fz="sm">
            {one.sentence}
          </PageLink>
        </li>
      ))}
    </ul>
  );
}
