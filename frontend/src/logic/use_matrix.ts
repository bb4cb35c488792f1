/** The USE matrix: utilisation, saturation and errors of each resource. */

import type { FleetUseRow, UseCell, UseMatrix } from "./api";
import type { ExploredMetric } from "./explore";

const RESOURCES: Readonly<Record<string, string>> = {
  cpu: "CPUs",
  memory: "Memory",
  disk: "Disks",
  network: "Network",
  swap: "Swap space",
  filesystem: "File systems",
  locks: "Kernel locks",
  files: "Open files",
  gpu: "GPUs",
  unit: "Limited units",
};

/** Return what people call a resource of the matrix. */
export function nameResource(resource: string): string {
  return RESOURCES[resource] ?? resource;
}

export const USE_KINDS = ["utilisation", "saturation", "errors"] as const;

/** Return the cells of a row in the order of the columns. Missing: null where the checklist has no such question for the resource */
export function cellsOf(row: UseMatrix["rows"][number]): readonly (UseCell | null)[] {
  return USE_KINDS.map((kind) => row.cells.find((cell) => cell.kind === kind) ?? null);
}

/** Return how many units with limits have no row. */
export function hiddenUnits({ rows, n_units }: Pick<UseMatrix, "rows" | "n_units">): number {
  return n_units - rows.filter(({ limits }) => limits !== "").length;
}

/** Return the metric that a cell shows, to draw it. Missing: null where nothing is recorded */
export function metricOf({ stat, field, instance }: UseCell): ExploredMetric | null {
  return stat === null || field === null
    ? null
    : { stat, fields: [field], choice: instance === "" ? null : { kind: "only", names: [instance] } };
}

/** Return the limits of a cell: `warning from 80 %, critical from 95 %`. "" where there are none */
export function limitsOf(cell: Pick<UseCell, "warning_from" | "warning_above" | "critical_from">): string {
  return [
    cell.warning_from === "" ? "" : `warning from ${cell.warning_from}`,
    cell.warning_above === "" ? "" : `warning above ${cell.warning_above}`,
    cell.critical_from === "" ? "" : `critical from ${cell.critical_from}`,
  ]
    .filter((text) => text !== "")
    .join(", ");
}

/** Return how many hosts have a cell in this state. */
export function countHosts(hosts: readonly FleetUseRow[], state: UseCell["state"]): number {
  return hosts.filter((host) => host.state === state).length;
}

/** Return the hosts whose name contains a text, whatever its case. */
export function searchHosts(hosts: readonly FleetUseRow[], text: string): readonly FleetUseRow[] {
  const wanted = text.trim().toLowerCase();
  return hosts.filter(({ host }) => host.toLowerCase().includes(wanted));
}

export interface UseCount {
  readonly nCritical: number;
  readonly nWarning: number;
  readonly nUnanswered: number;
}

/** Return how many cells need attention, and how many are not recorded. */
export function countStates(matrix: UseMatrix): UseCount {
  const states = matrix.rows.flatMap(({ cells }) => cells.map(({ state }) => state));
  const count = (wanted: UseCell["state"]) => states.filter((state) => state === wanted).length;
  return { nCritical: count("critical"), nWarning: count("warning"), nUnanswered: count("not_recorded") };
}
