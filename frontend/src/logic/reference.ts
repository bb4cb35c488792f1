/** Reference lines: known limits of what a field measures, and values that people expect, drawn behind no window of their own. */

import type { FieldInfo, ReferenceRule } from "./api";

export interface ReferenceLine {
  readonly value: number;
  readonly label: string;
  /** Where the number comes from. */
  readonly source: string;
  /** Whether people expect this value: then it is said even where it is beyond the axis. */
  readonly isExpected: boolean;
}

/** Return the reference lines of the fields of a panel, each once. */
export function referencesOf(
  rules: readonly ReferenceRule[],
  stat: string,
  fields: readonly Pick<FieldInfo, "key" | "unit">[],
): readonly ReferenceLine[] {
  const keys = new Set(fields.map(({ key, unit }) => `${key} ${unit}`));
  // The catalogue may not know the unit of a field of which something is expected.
  const expected = new Set(fields.map(({ key }) => key));
  const found = rules.filter(
    (rule) => rule.stat === stat && (rule.is_expected ? expected.has(rule.field) : keys.has(`${rule.field} ${rule.unit}`)),
  );
  return [
    ...new Map(
      found.map(({ value, label, source, is_expected }) => [label, { value, label, source, isExpected: is_expected }]),
    ).values(),
  ];
}
