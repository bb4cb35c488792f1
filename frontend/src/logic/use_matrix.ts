/** The USE matrix: utilisation, saturation and errors of each resource. */

import type { UseCell, UseMatrix } from "./api";
import type { ExploredMetric } from "./explore";

export const USE_KINDS = ["utilisation", "saturation", "errors"] as const;

/** Return the cells of a row in the order of the columns. Missing: null for a question that nobody asks of the resource */
export function cellsOf(row: UseMatrix["rows"][number]): readonly (UseCell | null)[] {
  return USE_KINDS.map((kind) => row.cells.find((cell) => cell.kind === kind) ?? null);
}

/** Return the metric that a cell shows, to draw it. Missing: null where nothing is recorded */
export function metricOf({ stat, field, instance }: UseCell): ExploredMetric | null {
  return stat === null || field === null
    ? null
    : { stat, fields: [field], choice: instance === "" ? null : { kind: "only", names: [instance] } };
}

export interface UseCount {
  readonly nCritical: number;
  readonly nWarning: number;
  readonly nUnanswered: number;
}

/** Return how many cells need somebody, and how many are not recorded. */
export function countStates(matrix: UseMatrix): UseCount {
  const states = matrix.rows.flatMap(({ cells }) => cells.map(({ state }) => state));
  const count = (wanted: UseCell["state"]) => states.filter((state) => state === wanted).length;
  return { nCritical: count("critical"), nWarning: count("warning"), nUnanswered: count("not_recorded") };
}
