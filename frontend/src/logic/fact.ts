/** Host facts as text. */

import type { HostFact } from "./api";
import { formatWithUnit } from "./number";
import { type EpochMs, fromApi, toEpochMs, type Window } from "./time";
import { scaleFor } from "./unit";

/** The known kinds of facts, in the order of the page. */
const LABELS: ReadonlyMap<string, string> = new Map([
  ["system", "System"],
  ["os", "Operating system"],
  ["kernel_release", "Kernel"],
  ["kernel_version", "Kernel build"],
  ["machine", "Architecture"],
  ["zone", "Zone"],
  ["boot_time", "Booted"],
  ["cpu_model", "CPU model"],
  ["cpus", "CPUs"],
  ["cpu_mhz", "Clock rate"],
  ["memory_kb", "Memory"],
  ["swap_kb", "Swap space"],
  ["mount", "Mounted"],
  ["disk", "Disk"],
  ["interface", "Network interface"],
]);

const AROUND_MS = 15 * 60_000;

/** Return the label of a kind of fact; unknown ones have their key. */
export function factLabel(key: string): string {
  return LABELS.get(key) ?? key.replaceAll("_", " ");
}

/** Return the facts in the order of the page: known kinds first, then by key; things of one kind by name. */
export function sortFacts(facts: readonly HostFact[]): readonly HostFact[] {
  const order = [...LABELS.keys()];
  const place = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length);
  return facts.toSorted((a, b) => place(a.key) - place(b.key) || a.key.localeCompare(b.key) || a.item.localeCompare(b.item));
}

/** Return the moment that a value stands for, or null if it is none. */
export function factMoment(key: string, value: string): EpochMs | null {
  return key === "boot_time" && /^\d{1,11}$/.test(value) ? toEpochMs(Number(value) * 1000) : null;
}

/** Return a value with its unit: `15.6 GiB`, `2,450 MHz`, `none` for a size of 0. Text stays as it is. */
export function formatFact(key: string, value: string): string {
  const number = Number(value);
  if (value === "" || !Number.isFinite(number)) {
    return value;
  }
  if (key.endsWith("_kb")) {
    if (number === 0) {
      return "none";
    }
    const scale = scaleFor("KiB", number);
    return formatWithUnit(number / scale.factor, 1, scale.unit);
  }
  return key.endsWith("_mhz") ? formatWithUnit(number, 0, "MHz") : value;
}

/** Return the window to look at when something changed at that moment. */
export function windowAround(at: string): Window {
  const moment = fromApi(at);
  return { start: toEpochMs(moment - AROUND_MS), end: toEpochMs(moment + AROUND_MS) };
}
