/** Reference lines: known limits of what a field measures, drawn behind no window of their own. */

import type { FieldInfo, ReferenceRule } from "./api";

export interface ReferenceLine {
  readonly value: number;
  readonly label: string;
  /** Where the number comes from. */
  readonly source: string;
}

/** Return the reference lines of the fields of a panel, each once. */
export function referencesOf(
  rules: readonly ReferenceRule[],
  stat: string,
  fields: readonly Pick<FieldInfo, "key" | "unit">[],
): readonly ReferenceLine[] {
  const keys = new Set(fields.map(({ key, unit }) => `${key} ${unit}`));
  const found = rules.filter((rule) => rule.stat === stat && keys.has(`${rule.field} ${rule.unit}`));
  return [...new Map(found.map(({ value, label, source }) => [label, { value, label, source }])).values()];
}
