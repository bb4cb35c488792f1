/** A selection: what it is compared with, and its largest differences over the host. */

import { type Against, AGO_LABELS, type Ago, newestBaseline } from "./against";
import { answerOf, type Certainty } from "./answer";
import type { BaselineInfo, Comparison } from "./api";
import { DAY, HOUR, lengthOf, toEpochMs, type Window } from "./time";

/** What a selection is compared with: a baseline, or an earlier time. */
export const EARLIER = ["before", "day", "week"] as const;
export type Earlier = (typeof EARLIER)[number];
export type Reference = { readonly kind: "baseline"; readonly id: number } | { readonly kind: "earlier"; readonly when: Earlier };

const MAX_DIFFERENCES = 3;
const AGO_MS: Readonly<Record<Ago, number>> = { day: DAY, week: 7 * DAY };

export function formatReference(reference: Reference): string {
  return reference.kind === "baseline" ? `baseline ${String(reference.id)}` : reference.when;
}

/** Return the label of an earlier time. */
export function earlierLabel(when: Earlier): string {
  return when === "before" ? "the hour before it" : AGO_LABELS[when];
}

/** Return what to compare with unless the user chooses: the baseline behind the graphs, else the newest, else the hour before. */
export function usualReference(
  bandId: number | null,
  baselines: readonly Pick<BaselineInfo, "id" | "windows" | "recording_until" | "is_rolling">[],
): Reference {
  const id = bandId ?? newestBaseline(baselines)?.id;
  return id === undefined ? { kind: "earlier", when: "before" } : { kind: "baseline", id };
}

/** Return the earlier window of a selection; the time before is at least an hour, and as long as the selection. */
export function earlierWindow(mark: Window, when: Earlier): Window {
  if (when === "before") {
    return { start: toEpochMs(mark.start - Math.max(HOUR, lengthOf(mark))), end: mark.start };
  }
  return { start: toEpochMs(mark.start - AGO_MS[when]), end: toEpochMs(mark.end - AGO_MS[when]) };
}

/** Return what the comparison page and its result are asked for. */
export function againstOf(reference: Reference, mark: Window): Against {
  if (reference.kind === "baseline") {
    return { kind: "baseline", id: reference.id, version: null };
  }
  return reference.when === "before"
    ? { kind: "window", window: earlierWindow(mark, "before") }
    : { kind: "ago", ago: reference.when };
}

export interface Difference {
  readonly title: string;
  readonly sentence: string;
  readonly certainty: Certainty;
}

/** Return the largest differences of a comparison: the cards of its answer, then the groups that belong to none. */
export function largestDifferences(comparison: Pick<Comparison, "stories" | "ledger" | "groups">): readonly Difference[] {
  const { cards } = answerOf(comparison);
  const told = new Set(cards.flatMap(({ story }) => story?.ranks ?? []));
  const apart = comparison.groups.filter(({ rank }) => !told.has(rank));
  return [
    ...cards.map(({ title, sentence, certainty }) => ({ title, sentence, certainty })),
    ...apart.map(({ column, stat, sentence, certainty }) => ({ title: `${column} (${stat})`, sentence, certainty })),
  ].slice(0, MAX_DIFFERENCES);
}
