/** Artefacts: what tools printed once to answer a question. Their parts in the order in which they tell most, and words for them. */

import { counted } from "./counted";
import type { Artefact, ArtefactPartInfo, ArtefactTable, ArtefactTableColumn, ArtefactTableRow } from "./api";
import { formatShare, formatValue, formatWithUnit } from "./number";
import { describeDuration, type EpochMs, fromApi, toDurationMs, toEpochMs, type Window } from "./time";
import { scaleFor } from "./unit";

export const EFFECTS = ["none", "light", "heavy"] as const;
export type ArtefactEffect = (typeof EFFECTS)[number];

/** Stats that say something about the whole run, not what it found: the tools' own totals, and what the counters were derived to. */
const ABOUT_THE_RUN = /_(?:section|summary|totals|times|run|events|metrics)$/;
/** Tables whose rows are measurements beside each other, not costs that add up. */
const SIDE_BY_SIDE = /^(?:time|iozone\w*|mcelog\w*)$/;

const TIME_UNITS: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 };

/** Return the parts, what the tool found before what it says about the run. */
export function orderParts(parts: readonly ArtefactPartInfo[]): readonly ArtefactPartInfo[] {
  const isAbout = ({ stat }: ArtefactPartInfo): number => Number(ABOUT_THE_RUN.test(stat));
  return [...parts].sort((a, b) => isAbout(a) - isAbout(b) || a.position - b.position);
}

const PART_WORDS: Readonly<Record<string, string>> = {
  table: "table",
  stacks: "stack profile",
  histogram: "histogram",
  log: "log",
};

/** Say what an artefact has: `2 tables, 1 histogram`. */
export function describeParts(parts: readonly Pick<ArtefactPartInfo, "kind">[]): string {
  const kinds = [...new Set(parts.map(({ kind }) => kind))];
  const said = kinds.map((kind) => counted(parts.filter((part) => part.kind === kind).length, PART_WORDS[kind] ?? kind));
  return said.length === 0 ? "text only" : said.join(", ");
}

/** Return whether the rows of a table share a whole, so that the costliest one and its share say something. */
export function isRanked(stat: string): boolean {
  return !ABOUT_THE_RUN.test(stat) && !SIDE_BY_SIDE.test(stat);
}

/** Return what an artefact is called: its title, else its question, command or file. */
export function nameOf({
  title,
  question,
  command,
  file_name,
  tool,
  id,
}: Pick<Artefact, "title" | "question" | "command" | "file_name" | "tool" | "id">): string {
  const first = [title, question, command, file_name].map((text) => text.trim()).find((text) => text !== "");
  return first?.split("\n")[0] ?? (tool === "" ? `Artefact ${String(id)}` : tool);
}

/** Return what a tool does to what it watches, in a sentence. Missing: "" for a tool that disturbs nothing. */
export function describeEffect({ effect, tool }: Pick<Artefact, "effect" | "tool">): string {
  const name = tool === "" ? "this tool" : tool;
  if (effect === "heavy") {
    return STOPPING.has(tool)
      ? `${name} stops the process twice at each system call. Its times and the host's numbers are not normal in this window; calls and errors are right.`
      : `${name} traced enough events to slow down what it observed several times over. Its times and the host's numbers are not normal in this window.`;
  }
  return effect === "light" ? `${name} uses a few percent of CPU time while it runs.` : "";
}

/** Tools that stop a process twice at each call. */
const STOPPING: ReadonlySet<string> = new Set(["strace", "truss", "ltrace"]);

/** Return the window of an artefact. Missing: null where only its moment is known. */
export function windowOfArtefact({ start, end }: Pick<Artefact, "start" | "end">): Window | null {
  const from = fromApi(start);
  const to = end === null ? from : fromApi(end);
  return to > from ? { start: from, end: to } : null;
}

/** Return a window of the host's page that shows an artefact with what came before and after it. */
export function surroundingsOf(artefact: Pick<Artefact, "start" | "end">): Window {
  const { start, end } = windowOfArtefact(artefact) ?? { start: fromApi(artefact.start), end: fromApi(artefact.start) };
  const margin = Math.max(MARGIN_MS, 2 * (end - start));
  return { start: toEpochMs(Math.max(0, start - margin)), end: toEpochMs(end + margin) };
}

const MARGIN_MS = 5 * 60_000;

/** Return how long the tool watched, as text: `10.04 s`. Missing: "" if it is not known. */
export function describeLength(duration_s: number | null): string {
  if (duration_s === null) {
    return "";
  }
  return duration_s < 60
    ? `${formatValue(duration_s, decimalsOf(duration_s))} s`
    : describeDuration(toDurationMs(duration_s * 1000));
}

function decimalsOf(value: number): number {
  const text = String(value);
  return text.includes("e") ? 3 : Math.min(3, text.split(".")[1]?.length ?? 0);
}

/** Return two artefacts, the one that began first before the other. */
export function inTime<T extends Pick<Artefact, "start" | "id">>(a: T, b: T): readonly [T, T] {
  const [first, second] = [fromApi(a.start), fromApi(b.start)];
  return first < second || (first === second && a.id < b.id) ? [a, b] : [b, a];
}

/** Return a value in the unit in which it has few digits: 1,527,032 ns as `1.527 ms`. Counts stay as they are. */
export function readable(value: number, unit: string): string {
  const base = unit.split("/")[0] ?? "";
  const isKnown = base in TIME_UNITS || /^(?:[kMGT]i?)?B$|^bytes$/.test(base);
  const scale = scaleFor(unit, Math.abs(value));
  if (!isKnown || value === 0 || scale.suffix !== "") {
    return formatWithUnit(value, Number.isInteger(value) ? 0 : 3, unit);
  }
  // A float such as 1e-05 s is 10 us, not 10.000000000000002.
  const shown = Number((value / scale.factor).toPrecision(12));
  const decimals = Number.isInteger(shown) ? 0 : Math.abs(shown) >= 100 ? 1 : Math.abs(shown) >= 10 ? 2 : 3;
  return formatWithUnit(shown, decimals, scale.unit);
}

/** Return the share of the watched time that a time is, 0 to 1 and above 1 where several threads wait. Missing: null. */
export function shareOfInterval(value: number | null, unit: string, duration_s: number | null): number | null {
  const factor = TIME_UNITS[unit];
  return value === null || factor === undefined || duration_s === null || duration_s <= 0 ? null : (value * factor) / duration_s;
}

/** Return a share of the watched time with enough digits to see it: `0.015 %`, `12.4 %`. */
export function formatIntervalShare(share: number): string {
  const percent = share * 100;
  const decimals = percent >= 10 || percent === 0 ? 1 : percent >= 1 ? 2 : Math.min(9, 1 - Math.floor(Math.log10(percent)));
  return `${formatValue(percent, decimals)} %`;
}

/** Return a share of a column of shares, all with one decimal; never rounded to 0 or 100 %. */
export function formatShareCell(share: number): string {
  return formatShare(share).replace(/^(\d+) %$/, "$1.0 %");
}

/** Return the artefact that an event is derived from. Missing: null for any other event. */
export function artefactOf({ artefact }: { readonly source: string; readonly artefact?: number | null }): number | null {
  return artefact ?? null;
}

/** Return a number of a table, as the tool printed it. */
export function formatCell(value: number | null, { decimals }: Pick<ArtefactTableColumn, "decimals">): string {
  // A mean of several rows has more digits than the tool's column.
  return formatValue(value, value !== null && Number.isInteger(value) ? 0 : decimals === 0 ? 3 : decimals);
}

/** Return the parts of a row's key that the tool printed, as text. */
export function keyText(key: readonly string[]): string {
  return key.filter((part) => part !== "").join(" · ");
}

/** Return the place of the column that orders a table; -1 if it has none. */
export function orderPlace({ columns, order }: Pick<ArtefactTable, "columns" | "order">): number {
  return columns.findIndex(({ key }) => key === order);
}

/** The costliest row of a table, in words. */
export interface Lead {
  readonly key: string;
  readonly value: string;
  readonly share: string;
  readonly total: string;
  /** Its share of the watched time; "" where the table counts no time. */
  readonly interval: string;
  readonly length: string;
}

/** Return the costliest row of a table in words. Missing: null without a row that has a share. */
export function leadOf(table: ArtefactTable, duration_s: number | null): Lead | null {
  const at = orderPlace(table);
  const column = table.columns[at];
  const first = table.rows.find(({ is_total, share }) => !is_total && share !== null);
  const value = first?.values[at] ?? null;
  if (column === undefined || first === undefined || value === null || first.share === null || value <= 0) {
    return null;
  }
  const interval = shareOfInterval(value, column.unit, duration_s);
  return {
    key: keyText(first.key),
    value: readable(value, column.unit),
    share: formatShare(first.share),
    total: table.total === null ? "" : readable(table.total, column.unit),
    interval: interval === null ? "" : formatIntervalShare(interval),
    length: interval === null ? "" : describeLength(duration_s),
  };
}

/** Return how many rows make most of a table: the first with a cumulative share of `part`. Missing: null where fewer rows are shown. */
export function rowsOfShare(rows: readonly ArtefactTableRow[], part: number): number | null {
  const ranked = rows.filter(({ is_total }) => !is_total);
  const at = ranked.findIndex(({ cumulative }) => cumulative !== null && cumulative >= part - 1e-9);
  return at < 0 ? null : at + 1;
}

/** Return the width of a row's bar in percent: its value over the largest of the table. */
export function barPercent(value: number | null, largest: number): number {
  return value === null || largest <= 0 || value <= 0 ? 0 : Math.min(100, (value / largest) * 100);
}

/** Return the largest value of the ordering column among rows that are no sum of others. */
export function largestOf(rows: readonly ArtefactTableRow[], at: number): number {
  return rows.reduce((most, { values, is_total }) => Math.max(most, is_total ? 0 : (values[at] ?? 0)), 0);
}

/** Return whether a column counts failures. */
export function isErrors({ key }: Pick<ArtefactTableColumn, "key">): boolean {
  return /^(?:n_)?(?:errors?|err|failed|failures)$/.test(key);
}

/** Return the parts of the key that any of the rows has. */
export function shownKeys(names: readonly string[], rows: readonly ArtefactTableRow[]): readonly number[] {
  const places = names.map((_, place) => place);
  const filled = places.filter((place) => rows.some(({ key }) => (key[place] ?? "") !== ""));
  return filled.length === 0 ? places.slice(0, 1) : filled;
}

/** Return the ways to group rows: all of a key's parts, each alone, and all but one where there are more than two. */
export function groupings(names: readonly string[]): readonly (readonly string[])[] {
  if (names.length < 2) {
    return [];
  }
  const singles = names.map((name) => [name]);
  const pairs = names.length > 2 ? names.map((name) => names.filter((other) => other !== name)) : [];
  return [[], ...singles, ...pairs];
}

/** The latest moment of an artefact. */
export function endOf({ start, end }: Pick<Artefact, "start" | "end">): EpochMs {
  return fromApi(end ?? start);
}

/** Parse seconds such as `10.042`. Missing: null for anything else, and for 0. */
export function parseSeconds(text: string): number | null {
  const value = /^\d{1,9}(?:\.\d{1,9})?$/.test(text.trim()) ? Number(text.trim()) : 0;
  return value > 0 ? value : null;
}

/** A bar of a Pareto picture: `width` is its part of the longest one, 0 to 1. */
export interface ParetoBar {
  readonly name: string;
  readonly value: number;
  readonly width: number;
  /** The share of this row and all above it. Missing: null where there is no whole. */
  readonly cumulative: number | null;
}

/** Return the first rows of a table, without those that are sums of others, as the bars of a Pareto picture. */
export function paretoBars(table: ArtefactTable, most: number): readonly ParetoBar[] {
  const at = orderPlace(table);
  const rows = table.rows.filter(({ is_total }) => !is_total).slice(0, most);
  // What all rows have in common tells none of them from another.
  const filled = shownKeys(table.key_names, rows);
  const distinct = filled.filter((place) => new Set(rows.map(({ key }) => key[place])).size > 1);
  const shown = distinct.length === 0 ? filled : distinct;
  const longest = largestOf(rows, at);
  return rows.map(({ key, values, cumulative }) => {
    const value = values[at] ?? 0;
    const name = shown.map((place) => key[place] ?? "").filter((part) => part !== "");
    return { name: name.join(" · "), value, width: longest > 0 ? Math.max(0, value) / longest : 0, cumulative };
  });
}
