/** What lists say about baselines. */

import type { BaselineInfo } from "./api";
import { type DurationMs, fromApi, toDurationMs } from "./time";

/** Baselines in whose name, hosts, note or author every word occurs. */
export function filterBaselines(baselines: readonly BaselineInfo[], filter: string): readonly BaselineInfo[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return baselines.filter(({ name, hosts, note, created_by }) => {
    const text = [name, ...hosts, note, created_by].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** All windows together. */
export function totalLength(baseline: Pick<BaselineInfo, "windows">): DurationMs {
  return toDurationMs(baseline.windows.reduce((sum, { start, end }) => sum + fromApi(end) - fromApi(start), 0));
}

/** The versions of a baseline for a menu: the newest, whichever that will be, and each one that was. */
export function versionOptions(newest: number): readonly { readonly value: string; readonly label: string }[] {
  const before = [...Array(newest - 1).keys()].map((index) => newest - 1 - index);
  return [
    { value: "", label: `the newest (${String(newest)} now)` },
    ...before.map((version) => ({ value: String(version), label: `version ${String(version)}` })),
  ];
}
