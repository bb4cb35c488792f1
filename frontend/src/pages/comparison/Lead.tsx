import { useMemo } from "react";
import type { Comparison } from "../../logic/api";
import { byRank, describeSentence, storiesOf } from "../../logic/story";

/** The answer in one paragraph, and in small print how far it can be trusted. */
export function Lead({ comparison }: { readonly comparison: Comparison }) {
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
