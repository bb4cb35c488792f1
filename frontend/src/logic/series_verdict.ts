/** Words and numbers of the series of a comparison, ranked or not. */

import type { AskedSeries } from "./api";
import { computedDecimals } from "./comparison";
import { formatCount, formatScore, formatValue, formatWithUnit } from "./number";
import { counted } from "./counted";

export type Verdict = AskedSeries["verdict"];

export const VERDICT_LABELS: Readonly<Record<Verdict, string>> = {
  unusual: "unusual",
  likely: "likely unusual",
  unchanged: "unchanged",
  appeared: "+ appeared",
  disappeared: "− disappeared",
  insufficient_data: "not enough samples",
  muted: "muted",
};

/** Return the median with its unit, and the range with the number of samples. */
export function describeSide(
  side: AskedSeries["baseline"],
  { unit, decimals }: Pick<AskedSeries, "unit" | "decimals">,
): { readonly value: string; readonly range: string } {
  const { n, median, lowest, highest } = side;
  if (n === 0 || median === null) {
    return { value: "–", range: "" };
  }
  const value = formatWithUnit(median, computedDecimals(median, decimals), unit);
  const samples = counted(n, "sample");
  const hasRange = n > 1 && lowest !== highest;
  return {
    value,
    range: hasRange ? `${formatValue(lowest, decimals)} to ${formatValue(highest, decimals)}; ${samples}` : samples,
  };
}

/** Return how much more or less the incident has, and how many times as much. */
export function describeDifference({
  difference,
  ratio,
  unit,
  decimals,
}: Pick<AskedSeries, "difference" | "ratio" | "unit" | "decimals">): string {
  if (difference === null) {
    return "–";
  }
  const sign = difference > 0 ? "+" : "";
  const text = `${sign}${formatWithUnit(difference, computedDecimals(difference, decimals), unit)}`;
  return ratio === null || ratio === 1 ? text : `${text} (${formatScore(ratio)}×)`;
}

/** Return which rows a page shows: `51–100 of 1,234`. */
export function pageText(offset: number, count: number, all: number): string {
  return `${formatCount(offset + 1)}–${formatCount(offset + count)} of ${formatCount(all)}`;
}

/** Series in a page of a table. */
export const PAGE_SIZE = 50;

/** Return where the page before begins. Missing: null for the first one. */
export function previousOffset(offset: number): number | null {
  return offset === 0 ? null : Math.max(0, offset - PAGE_SIZE);
}

/** Return where the next page begins. Missing: null for the last one. */
export function nextOffset(offset: number, all: number): number | null {
  return offset + PAGE_SIZE >= all ? null : offset + PAGE_SIZE;
}
