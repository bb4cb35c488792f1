/** The answer of GET /comparison, as the page reads it. */

import type { Interval } from "./api";

export type FindingKind =
  | "level"
  | "spread"
  | "shape"
  | "top"
  | "bottom"
  | "stall"
  | "spikes"
  | "movement"
  | "frozen"
  | "saturated"
  | "trend"
  | "missing"
  | "appeared"
  | "zero";

export type Subsystem = "cpu" | "memory" | "disk" | "network" | "process" | "system" | "other";

export interface Summary {
  readonly n: number;
  readonly mean: number | null;
  readonly median: number | null;
  readonly p5: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  readonly lowest: number | null;
  readonly highest: number | null;
  /** From the lowest to the highest, evenly spaced in probability; empty without samples. */
  readonly quantiles: readonly number[] | null;
}

/** Lowest and highest of equal columns of time; null = no sample there. */
export interface Columns {
  readonly low: readonly (number | null)[];
  readonly high: readonly (number | null)[];
}

export interface FindingFigure extends Columns {
  readonly start_ms: number;
  readonly end_ms: number;
  /** The baseline's own line by elapsed time, where it is one window. */
  readonly baseline: Columns | null;
}

export interface ScoreParts {
  readonly value: number;
  readonly shape: number;
  readonly top: number;
  readonly bottom: number;
  readonly step: number;
  readonly still: number;
  readonly missing: number;
}

export interface Finding {
  readonly instance: string;
  readonly kind: FindingKind;
  readonly baseline: Summary;
  readonly incident: Summary;
  readonly usual: number;
  readonly change: number;
  readonly score: number;
  readonly parts: ScoreParts;
  readonly impact: number;
  readonly sentence: string;
  readonly figure: FindingFigure | null;
}

export interface Command {
  readonly command: string;
  readonly note: string;
  readonly needs: string;
  readonly source: string;
}

export interface Question {
  readonly why: string;
  readonly commands: readonly Command[];
}

export interface Group {
  readonly rank: number;
  readonly host: string;
  readonly stat: string;
  readonly field: string;
  readonly column: string;
  readonly unit: string;
  readonly help: string;
  readonly subsystem: Subsystem;
  readonly kind: FindingKind;
  readonly direction: "up" | "down" | "same";
  readonly is_worse: boolean | null;
  readonly score: number;
  readonly impact: number;
  readonly weight: number;
  readonly sentence: string;
  readonly n_members: number;
  readonly n_instances: number;
  readonly instances: readonly string[];
  readonly members: readonly Finding[];
  readonly related: readonly string[];
  readonly questions: readonly Question[];
}

export interface OneSided {
  readonly host: string;
  readonly stat: string;
  readonly field: string;
  readonly instance: string;
  readonly side: "baseline" | "incident";
  readonly n: number;
  readonly sentence: string;
}

export interface NotJudged {
  readonly host: string;
  readonly stat: string;
  readonly field: string;
  readonly instance: string;
  readonly n_baseline: number;
  readonly n_incident: number;
  readonly reason: string;
}

export interface MutedFinding {
  readonly host: string;
  readonly stat: string;
  readonly field: string;
  readonly instance: string;
  readonly score: number;
}

export interface ComparedAgainst {
  readonly kind: "baseline" | "window" | "ago" | "host";
  readonly name: string;
  readonly baseline_id: number | null;
  readonly version: number | null;
  readonly windows: readonly Interval[];
  readonly host: string | null;
}

export interface SideAccount {
  readonly covered_s: number;
  readonly n_samples: number;
}

export interface Comparison {
  readonly hosts: readonly string[];
  readonly start: string;
  readonly end: string;
  readonly method_version: number | string;
  readonly against: ComparedAgainst;
  readonly divisor: string | null;
  readonly sides: { readonly baseline: SideAccount; readonly incident: SideAccount };
  readonly is_seasonal: boolean;
  readonly seasonal_note: string;
  readonly n_series: number;
  readonly n_unchanged: number;
  readonly n_findings: number;
  readonly n_groups: number;
  readonly verdict: string;
  readonly groups: readonly Group[];
  readonly one_sided: readonly OneSided[];
  readonly thin: readonly NotJudged[];
  readonly muted: readonly MutedFinding[];
  readonly counts: { readonly one_sided: number; readonly thin: number; readonly muted: number };
  readonly elapsed_ms: number;
}
