/** Specs and add-ons in lists, and what a preview found. */

import type { FieldInfo, PreviewRow, SpecInfo, SpecPreview } from "./api";
import { LINE_KINDS } from "./host";
import { plural } from "./number";

export const FIELD_KINDS: readonly FieldInfo["kind"][] = ["gauge", "rate", "counter", "percent", "count", "time"];

export const KIND_HELP: Readonly<Record<FieldInfo["kind"], string>> = {
  gauge: "a level at the instant, such as free memory",
  rate: "so many per second over the interval",
  counter: "counts up since the start; its differences are of interest",
  percent: "a share of 100",
  count: "how many in the interval",
  time: "a duration",
};

export const WORSE_CHOICES: readonly { readonly value: FieldInfo["worse"]; readonly label: string }[] = [
  { value: "neither", label: "neither is worse" },
  { value: "higher", label: "higher is worse" },
  { value: "lower", label: "lower is worse" },
];

const SYSTEMS: Readonly<Record<string, string>> = { linux: "Linux", sunos: "Solaris", any: "any system" };

/** `Linux`, `Solaris`, `any system`; what is not known by name is as it is. */
export function systemName(os: string): string {
  return SYSTEMS[os] ?? os;
}

/** Specs in whose name, title, tool, system or stats every word occurs. */
export function filterSpecs(specs: readonly SpecInfo[], filter: string): readonly SpecInfo[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return specs.filter(({ name, title, tool, os, stats, is_builtin }) => {
    const text = [name, title, tool, os, systemName(os), ...stats, is_builtin ? "built-in" : "own"].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Own ones first, then outdated ones, then by name. */
export function sortSpecs(specs: readonly SpecInfo[]): readonly SpecInfo[] {
  return [...specs].sort(
    (a, b) =>
      Number(a.is_builtin) - Number(b.is_builtin) ||
      Number(b.n_streams_outdated > 0) - Number(a.n_streams_outdated > 0) ||
      a.name.localeCompare(b.name),
  );
}

// As specs are named; stats/catalogue.py. A stat's table has the same name.
const SPEC_NAME = /^[a-z][a-z0-9_]{0,39}$/;

/** What is wrong with the name of a new spec; null when nothing is. */
export function nameProblem(name: string, known: readonly SpecInfo[]): string | null {
  if (name === "") {
    return "give it a name";
  }
  if (!SPEC_NAME.test(name)) {
    return "small letters, digits and _ only, a letter first, at most 40";
  }
  const taken = known.find((spec) => spec.name === name || spec.stats.includes(name));
  return taken === undefined
    ? null
    : taken.is_builtin
      ? `${name} is built in; choose another name`
      : `${name} exists; open it to change it`;
}

/** Rows of one stat with the columns that any of them has, in their order. */
export interface PreviewTable {
  readonly stat: string;
  readonly columns: readonly string[];
  readonly hasInstances: boolean;
  readonly hasTimes: boolean;
  readonly rows: readonly PreviewRow[];
}

export function previewTables(rows: readonly PreviewRow[]): readonly PreviewTable[] {
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

/** `12 rows; 2 rejected lines; headers: 1 line`: what became of the pasted lines. */
export function describePreview(preview: SpecPreview): string {
  const parts = [plural(preview.n_rows, "row"), plural(preview.n_rejected, "rejected line")];
  for (const { key, label } of LINE_KINDS) {
    const n = preview.n_lines[key] ?? 0;
    if (n > 0 && key !== "sample" && key !== "rejected") {
      parts.push(`${label}: ${plural(n, "line")}`);
    }
  }
  return parts.join("; ");
}

/** What to do about a preview that is not right yet; null when all is well. */
export function previewAdvice(preview: SpecPreview): string | null {
  if (preview.n_rows === 0) {
    return "No line became a row. The header in the TOML text must name columns that stand in the pasted header line, word for word.";
  }
  if (preview.n_rejected > 0) {
    return "Lines that are rejected are kept and counted, and can be read again later; those that never hold data can be left out by a pattern.";
  }
  return preview.rows.every(({ time }) => time === null)
    ? "The lines print no time. As they are, they would be rejected: let the agent call the tool in a loop, which prints the time before each report, or tell the import the first instant and the interval."
    : null;
}
