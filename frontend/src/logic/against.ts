/** The inputs of a comparison: incident, baseline, divisor. */

import type { BaselineInfo, BaselineList, ComparedBaseline, Comparison, HostGroupInfo } from "./api";
import { DAY, fromApi, type Window } from "./time";

const againstLastDays = (n: number) => (n === 1 ? "the last day" : `the last ${String(n)} days`);

export const AGOS = ["day", "week"] as const;
export type Ago = (typeof AGOS)[number];

export const AGO_LABELS: Readonly<Record<Ago, string>> = { day: "the same hours yesterday", week: "the same hours a week ago" };

export type Against =
  | { readonly kind: "baseline"; readonly id: number; readonly version: number | null }
  | { readonly kind: "window"; readonly window: Window }
  | { readonly kind: "ago"; readonly ago: Ago }
  | { readonly kind: "host"; readonly host: string }
  | { readonly kind: "group"; readonly group: string };

/** A divisor series: `vmstat_sunos.faults_sy`, or of one instance `iostat_linux.r_per_s@sda`. */
export interface Divisor {
  readonly stat: string;
  readonly field: string;
  readonly instance: string | null;
}

export function formatDivisor({ stat, field, instance }: Divisor): string {
  return `${stat}.${field}${instance === null ? "" : `@${instance}`}`;
}

/** Missing: null if the text names no series. */
export function parseDivisor(text: string): Divisor | null {
  const [, stat, field, instance] = /^([a-z]\w*)\.([a-z]\w*)(?:@(.+))?$/s.exec(text) ?? [];
  return stat === undefined || field === undefined ? null : { stat, field, instance: instance ?? null };
}

/** Everything that a comparison depends on. */
export interface ComparisonInputs {
  readonly hosts: readonly string[];
  readonly incident: Window;
  readonly against: Against;
  readonly divisor: string | null;
}

/**
 * The default baseline: the newest with windows that is not being recorded; lists are newest first. The last days of the host, which
 * was not marked, only where there is no other.
 */
export function newestBaseline<B extends Pick<BaselineInfo, "windows" | "recording_until" | "is_rolling">>(
  baselines: readonly B[],
): B | null {
  const made = baselines.filter(({ windows }) => windows.length > 0);
  const marked = made.filter(({ is_rolling }) => !is_rolling);
  return marked.find(({ recording_until }) => recording_until === null) ?? marked[0] ?? made[0] ?? null;
}

/** Return the baselines with the names that the page shows. */
export function withShownNames({ baselines }: BaselineList): BaselineList {
  return {
    baselines: baselines.map((baseline) => (baseline.is_rolling ? { ...baseline, name: rollingName(baseline) } : baseline)),
  };
}

/** Return what a rolling baseline is, instead of its name: the last 7 days. */
function rollingName({ name, windows }: Pick<BaselineInfo, "name" | "windows">): string {
  const [first, last] = [windows[0], windows.at(-1)];
  if (first === undefined || last === undefined) {
    return name;
  }
  return againstLastDays(Math.max(1, Math.round((fromApi(last.end) - fromApi(first.start)) / DAY)));
}

/** Return the groups that have other hosts than these, those that contain all of these first. */
export function groupsOfHosts<G extends Pick<HostGroupInfo, "hosts">>(
  groups: readonly G[],
  hosts: readonly string[],
): readonly G[] {
  const isOwn = (group: G): boolean => hosts.every((host) => group.hosts.includes(host));
  const usable = groups.filter((group) => group.hosts.some((host) => !hosts.includes(host)));
  return [...usable.filter(isOwn), ...usable.filter((group) => !isOwn(group))];
}

/** Return the newest version of a baseline if it is newer than the compared one. Missing: null if it is not. */
export function newerVersion(
  compared: { readonly baseline_id: number | null; readonly version: number | null },
  baselines: readonly Pick<BaselineInfo, "id" | "version">[],
): number | null {
  const now = baselines.find(({ id }) => id === compared.baseline_id)?.version ?? null;
  return now !== null && compared.version !== null && now > compared.version ? now : null;
}

/** Return the inputs of a saved comparison, to run it again. `ago` becomes a fixed window, because "yesterday" has moved. */
export function inputsOf({ hosts, start, end, against, divisor }: Comparison): ComparisonInputs | null {
  const common = { hosts, incident: { start: fromApi(start), end: fromApi(end) }, divisor };
  if (against.kind === "baseline" && against.baseline_id !== null) {
    return { ...common, against: { kind: "baseline", id: against.baseline_id, version: against.version } };
  }
  if (against.kind === "host" && against.host !== null) {
    return { ...common, against: { kind: "host", host: against.host } };
  }
  if (against.kind === "group" && against.group != null) {
    return { ...common, against: { kind: "group", group: against.group } };
  }
  const [first] = against.windows;
  return first === undefined
    ? null
    : { ...common, against: { kind: "window", window: { start: fromApi(first.start), end: fromApi(first.end) } } };
}

/** The title of the baseline's side. */
export function baselineTitle({ name }: Pick<ComparedBaseline, "name">): string {
  return `Baseline: ${name.replace(/^(the )?baseline /, "")}`;
}
