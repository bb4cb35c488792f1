/** Host facts: sections, times and recent changes. */

import type { FactChange, HostFact } from "./api";
import { DAY, type EpochMs, fromApi, toEpochMs, type Window } from "./time";

const AROUND_MS = 15 * 60_000;

export interface FactSection {
  readonly title: string;
  readonly facts: readonly HostFact[];
}

/** Return the facts by section, in the order of the server. */
export function factSections(facts: readonly HostFact[]): readonly FactSection[] {
  const sections = new Map<string, HostFact[]>();
  for (const fact of facts) {
    sections.set(fact.section, [...(sections.get(fact.section) ?? []), fact]);
  }
  return [...sections].map(([title, own]) => ({ title, facts: own }));
}

/** Return the moment that a value stands for, or null if it is none. */
export function factMoment(key: string, value: string): EpochMs | null {
  return key === "boot_time" && /^\d{1,10}$/.test(value) ? toEpochMs(Number(value) * 1000) : null;
}

/** Return how many changes the last day had. */
export function countRecent(changes: readonly FactChange[], now: EpochMs): number {
  return changes.filter(({ at }) => fromApi(at) > now - DAY).length;
}

/** Return the window to look at when something changed at that moment. */
export function windowAround(at: string): Window {
  const moment = fromApi(at);
  return { start: toEpochMs(moment - AROUND_MS), end: toEpochMs(moment + AROUND_MS) };
}
