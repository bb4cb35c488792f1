/** Host facts that differ between the two sides of a comparison. */

import type { FactChange, HostFact, HostFacts } from "./api";
import { type EpochMs, fromApi } from "./time";

/** A fact as the host had it at an instant. */
export interface FactAt {
  readonly key: string;
  readonly label: string;
  /** As the agent printed it, and with its unit. */
  readonly value: string;
  readonly text: string;
}

/** A fact on both sides. Missing: null where the host did not have it then. */
export interface FactDifference {
  readonly baseline: FactAt | null;
  readonly incident: FactAt | null;
}

type Known = Pick<HostFacts, "facts" | "changes" | "known_since">;

function keyOf({ key, item }: Pick<HostFact | FactChange, "key" | "item">): string {
  return `${key} ${item}`;
}

function labelOf({ label, item }: Pick<HostFact | FactChange, "label" | "item">): string {
  return item === "" ? label : `${label} ${item}`;
}

/** Return the facts of a host at an instant: those of today, with the later changes undone. Missing: null where none were reported yet. */
function factsAt({ facts, changes, known_since }: Known, at: EpochMs): ReadonlyMap<string, FactAt> | null {
  if (known_since === null || fromApi(known_since) > at) {
    return null;
  }
  const found = new Map(facts.map((fact): [string, FactAt] => [keyOf(fact), { ...fact, label: labelOf(fact) }]));
  // The changes come newest first.
  for (const change of changes.filter((change) => fromApi(change.at) > at)) {
    const { key, before, before_text } = change;
    if (before === null) {
      found.delete(keyOf(change));
    } else {
      found.set(keyOf(change), { key, label: labelOf(change), value: before, text: before_text ?? before });
    }
  }
  return found;
}

/**
 * Return the facts that differ between a host at an instant of the baseline and one, perhaps another, in the incident. Missing: null
 * where the facts of a side are not known.
 */
export function factDifferences(
  baseline: { readonly of: Known; readonly at: EpochMs },
  incident: { readonly of: Known; readonly at: EpochMs },
): readonly FactDifference[] | null {
  const [before, during] = [factsAt(baseline.of, baseline.at), factsAt(incident.of, incident.at)];
  if (before === null || during === null) {
    return null;
  }
  return [...new Set([...before.keys(), ...during.keys()])].flatMap((key) => {
    const [one, other] = [before.get(key), during.get(key)];
    return one?.value === other?.value ? [] : [{ baseline: one ?? null, incident: other ?? null }];
  });
}
