/** Specs and add-ons: lists, validation and previews. */

import type { FieldInfo, SpecPreviewRow, SpecInfo, SpecPreview } from "./api";
import { LINE_KINDS } from "./host";
import { counted } from "./counted";

export const FIELD_KINDS: readonly FieldInfo["kind"][] = ["gauge", "rate", "counter", "percent", "count", "time"];

export const KIND_HELP: Readonly<Record<FieldInfo["kind"], string>> = {
  gauge: "an instantaneous value, such as free memory",
  rate: "events per second over the interval",
  counter: "counts up since the start; use its differences",
  percent: "a percentage",
  count: "number of events in the interval",
  time: "a duration",
};

export const WORSE_CHOICES: readonly { readonly value: FieldInfo["worse"]; readonly label: string }[] = [
  { value: "neither", label: "neither is worse" },
  { value: "higher", label: "higher is worse" },
  { value: "lower", label: "lower is worse" },
];

const SYSTEMS: Readonly<Record<string, string>> = {
  linux: "Linux",
  sunos: "Solaris",
  aix: "AIX",
  freebsd: "FreeBSD",
  macos: "macOS",
  unix: "other Unix",
  any: "any system",
};

/** Return the display name of a system: `Linux`, `AIX`, `any system`; other values unchanged. */
export function systemName(os: string): string {
  return SYSTEMS[os] ?? os;
}

/** Return the specs whose name, title, tool, system or stats contain every word. */
export function filterSpecs(specs: readonly SpecInfo[], filter: string): readonly SpecInfo[] {
  const terms = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return specs.filter(({ name, title, tool, os, stats, is_builtin }) => {
    const text = [name, title, tool, os, systemName(os), ...stats, is_builtin ? "built-in" : "own"].join(" ").toLowerCase();
    return terms.every((word) => text.includes(word));
  });
}

/** Return the specs sorted: add-ons first, then outdated ones, then by name. */
export function sortSpecs(specs: readonly SpecInfo[]): readonly SpecInfo[] {
  return [...specs].sort(
    (a, b) =>
      Number(a.is_builtin) - Number(b.is_builtin) ||
      Number(b.n_streams_outdated > 0) - Number(a.n_streams_outdated > 0) ||
      a.name.localeCompare(b.name),
  );
}

// The rule of stats/catalogue.py; the stat's table has the same name.
const SPEC_NAME = /^[a-z][a-z0-9_]{0,39}$/;

/** Return the problem of a new spec's name; null if it is valid. */
export function nameProblem(name: string, known: readonly SpecInfo[]): string | null {
  if (name === "") {
    return "enter a name";
  }
  if (!SPEC_NAME.test(name)) {
    return "use lower-case letters, digits and _, starting with a letter, at most 40 characters";
  }
  const taken = known.find((spec) => spec.name === name || spec.stats.includes(name));
  return taken === undefined
    ? null
    : taken.is_builtin
      ? `${name} is built in; choose another name`
      : `${name} already exists; open it to edit it`;
}

/** The rows of one stat with all of their columns, in order. */
export interface PreviewTable {
  readonly stat: string;
  readonly columns: readonly string[];
  readonly hasInstances: boolean;
  readonly hasTimes: boolean;
  readonly rows: readonly SpecPreviewRow[];
}

export function previewTables(rows: readonly SpecPreviewRow[]): readonly PreviewTable[] {
  const stats = [...new Set(rows.map(({ stat }) => stat))];
  return stats.map((stat) => {
    const own = rows.filter((row) => row.stat === stat);
    return {
      stat,
      columns: [...new Set(own.flatMap(({ values }) => Object.keys(values)))],
      hasInstances: own.some(({ instance }) => instance !== ""),
      hasTimes: own.some(({ time }) => time !== null),
      rows: own,
    };
  });
}

/** Return the pasted lines by kind as text: `12 rows; 2 rejected lines; headers: 1 line`. */
export function describePreview(preview: SpecPreview): string {
  const parts = [counted(preview.n_rows, "row"), counted(preview.n_rejected, "rejected line")];
  for (const { key, label } of LINE_KINDS) {
    const n = preview.n_lines[key] ?? 0;
    if (n > 0 && key !== "sample" && key !== "rejected") {
      parts.push(`${label}: ${counted(n, "line")}`);
    }
  }
  return parts.join("; ");
}

/** Return advice about a problem in a preview; null if there is none. */
export function previewAdvice(preview: SpecPreview): string | null {
  if (preview.n_rows === 0) {
    return "No rows found. The header in the TOML text must name the columns exactly as they appear in the pasted header line.";
  }
  if (preview.n_rejected > 0) {
    return "Rejected lines are kept and counted, and can be reparsed later. Use an ignore pattern for lines that never hold data.";
  }
  return preview.rows.every(({ time }) => time === null)
    ? "The lines have no timestamps and would be rejected. Let the agent run the tool in a loop, which prints the time before each report, or give the import a start time and an interval."
    : null;
}
