/** IOzone: throughput by file size and record length, for each test. */

import type { ArtefactTable } from "./api";
import { scaleFor } from "./unit";
import { formatValue } from "./number";

/** Throughput of one test: `values[file size][record length]`. */
export interface Surface {
  readonly sizes_kb: readonly number[];
  readonly records_kb: readonly number[];
  /** Missing: null where IOzone did not run this combination. */
  readonly values: readonly (readonly (number | null)[])[];
}

/** Return the surface of a test of a table whose key is a file size and a record length. Missing: null for any other key. */
export function surfaceOf({ rows, columns }: Pick<ArtefactTable, "rows" | "columns">, test: string): Surface | null {
  const at = columns.findIndex(({ key }) => key === test);
  const cells = rows.flatMap(({ key: [size = "", record = ""], values }) =>
    /^\d+$/.test(size) && /^\d+$/.test(record) ? [{ size: Number(size), record: Number(record), value: values[at] ?? null }] : [],
  );
  if (at < 0 || cells.length === 0) {
    return null;
  }
  const sizes_kb = [...new Set(cells.map(({ size }) => size))].sort((a, b) => a - b);
  const records_kb = [...new Set(cells.map(({ record }) => record))].sort((a, b) => a - b);
  const values = sizes_kb.map((size) =>
    records_kb.map((record) => cells.find((cell) => cell.size === size && cell.record === record)?.value ?? null),
  );
  return { sizes_kb, records_kb, values };
}

/** Return a size as text: `64 KiB`, `1 GiB`. IOzone's kB are 1024 bytes. */
export function formatKb(kb: number): string {
  const scale = scaleFor("KiB", kb);
  const shown = kb / scale.factor;
  return `${formatValue(shown, Number.isInteger(shown) ? 0 : 1)} ${scale.unit}`;
}
