/** Cells of the USE matrix for tests. */

import type { UseCell } from "./api";

export function madeCell(kind: UseCell["kind"], state: UseCell["state"], field: string | null = null, instance = ""): UseCell {
  return {
    kind,
    about: "",
    state,
    text: "",
    n_instances: 1,
    stat: field === null ? null : "iostat_linux",
    field,
    instance,
    warning_from: "",
    warning_above: "",
    critical_from: "",
    limits_from: "",
    command: "iostat",
    record: "",
  };
}
