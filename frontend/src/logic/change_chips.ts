/** The chips of the list of all changes: which series it shows, and how many each chip stands for. */

import type { AskedSeriesPage, Comparison, FindingGroup } from "./api";
import type { Verdict } from "./series_verdict";

/** In the order of the page; those behind `load` show series that are no changes. */
export const CHANGE_CHIPS = [
  "sure",
  "likely",
  "appeared",
  "disappeared",
  "load",
  "insufficient-data",
  "unchanged",
  "muted",
] as const;
export type ChangeChip = (typeof CHANGE_CHIPS)[number];

export const CHIP_LABELS: Readonly<Record<ChangeChip, string>> = {
  sure: "sure",
  likely: "likely",
  appeared: "new",
  disappeared: "gone",
  load: "follows the load",
  "insufficient-data": "not enough data",
  unchanged: "unchanged",
  muted: "muted",
};

/** A change is said to follow the load from this share on that the load explains. */
const LOAD_SHARE = 0.5;

type GroupChip = "sure" | "likely" | "appeared" | "disappeared" | "load";

const OF_GROUPS: Readonly<Record<GroupChip, (group: FindingGroup) => boolean>> = {
  sure: ({ certainty }) => certainty === "sure",
  likely: ({ certainty }) => certainty === "likely",
  appeared: ({ kind }) => kind === "appeared",
  disappeared: ({ kind }) => kind === "disappeared",
  load: ({ members: [strongest] }) => (strongest?.explained_by_load ?? 0) >= LOAD_SHARE,
};

function isGroupChip(chip: ChangeChip): chip is GroupChip {
  return chip in OF_GROUPS;
}

/** Return the groups that the pressed chips show; without any, all of them. */
export function chippedGroups(groups: readonly FindingGroup[], chips: readonly ChangeChip[]): readonly FindingGroup[] {
  return chips.length === 0
    ? groups
    : groups.filter((group) => chips.some((chip) => isGroupChip(chip) && OF_GROUPS[chip](group)));
}

const VERDICTS: Readonly<Partial<Record<ChangeChip, Verdict>>> = {
  likely: "likely",
  appeared: "appeared",
  disappeared: "disappeared",
  "insufficient-data": "insufficient_data",
  unchanged: "unchanged",
};

/** Return the verdicts of the series that the pressed chips show beside the groups. Muted series have a list of their own. */
export function chippedVerdicts(chips: readonly ChangeChip[]): readonly Verdict[] {
  return chips.flatMap((chip) => VERDICTS[chip] ?? []);
}

export interface ChipCount {
  readonly chip: ChangeChip;
  readonly count: number;
}

/**
 * Return how many groups and further series each chip shows; chips that show nothing are left out unless they are pressed.
 *
 * `series` counts what a comparison does not list itself. Missing: null for a saved one, and until the server has answered.
 */
export function chipCounts(
  comparison: Pick<Comparison, "groups" | "counts" | "n_unchanged">,
  series: AskedSeriesPage["counts"] | null,
  pressed: readonly ChangeChip[],
): readonly ChipCount[] {
  const { groups, counts, n_unchanged } = comparison;
  const more: Readonly<Record<ChangeChip, number>> = {
    sure: 0,
    likely: series?.likely ?? 0,
    appeared: counts.appeared,
    disappeared: counts.disappeared,
    load: 0,
    "insufficient-data": counts.insufficient_data,
    unchanged: series?.unchanged ?? n_unchanged,
    muted: counts.muted,
  };
  return CHANGE_CHIPS.map((chip) => ({
    chip,
    count: more[chip] + (isGroupChip(chip) ? groups.filter(OF_GROUPS[chip]).length : 0),
  })).filter(({ chip, count }) => count > 0 || pressed.includes(chip));
}
