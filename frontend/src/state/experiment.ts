/** The state of an experiment's page in the URL. Pure. */

import { type Decoded, oneOf, parseId, type RawSearch, Reader } from "./search";
import { parseFilter } from "./url";
import { type Clock, decodeClock, encodeClock } from "./zone_choice";

export const EXPERIMENT_SHOWS = ["result", "speedup", "efficiency"] as const;
/** What the chart's value axis has. */
export type ExperimentShow = (typeof EXPERIMENT_SHOWS)[number];
export const SCALING_MODELS = ["amdahl", "usl", "bottleneck", "power"] as const;
export type ScalingModel = (typeof SCALING_MODELS)[number];
export const SCALING_MODEL_NAMES: Readonly<Record<ScalingModel, string>> = {
  amdahl: "Amdahl",
  usl: "USL",
  bottleneck: "bottleneck",
  power: "power law",
};
export const LOG_AXES = ["x", "y", "xy"] as const;
export type LogAxes = (typeof LOG_AXES)[number];

export interface ExperimentView {
  readonly clock: Clock;
  /** Null: the usual one. */
  readonly result: string | null;
  readonly factor: string | null;
  /** A second factor, whose values are lines; empty: one line of all runs. */
  readonly variant: string | null;
  /** The level that speed-ups are relative to. */
  readonly reference: string | null;
  /** The variant that the others are divided by. */
  readonly base: string | null;
  readonly work: "fixed" | "grows";
  /** The result that says how busy the CPU was, for groups A to D. */
  readonly cpu: string | null;
  readonly show: ExperimentShow;
  /** The models whose curves are drawn; empty: the one that explains the runs best. */
  readonly models: readonly ScalingModel[];
  readonly log: LogAxes | null;
  /** Up to two runs to compare, the baseline first. */
  readonly runs: readonly number[];
}

export const DEFAULT_EXPERIMENT_VIEW: ExperimentView = {
  clock: "local",
  result: null,
  factor: null,
  variant: null,
  reference: null,
  base: null,
  work: "fixed",
  cpu: null,
  show: "result",
  models: [],
  log: null,
  runs: [],
};

function parseName(text: string): string | null {
  return text === "" || text.length > 200 ? null : text;
}

function optional(name: string, value: string | null): RawSearch {
  return value === null ? {} : { [name]: value };
}

export function encodeExperimentView(view: ExperimentView): RawSearch {
  return {
    ...encodeClock(view.clock),
    ...optional("result", view.result),
    ...optional("by", view.factor),
    ...optional("lines", view.variant),
    ...optional("reference", view.reference),
    ...optional("base", view.base),
    ...(view.work === "fixed" ? {} : { work: view.work }),
    ...optional("cpu", view.cpu),
    ...(view.show === "result" ? {} : { show: view.show }),
    ...(view.models.length === 0 ? {} : { model: view.models }),
    ...optional("log", view.log),
    ...(view.runs.length === 0 ? {} : { run: view.runs.map(String) }),
  };
}

export function decodeExperimentView(raw: RawSearch): Decoded<ExperimentView> {
  const reader = new Reader(raw);
  return reader.finish({
    clock: decodeClock(reader),
    result: reader.one("result", parseName),
    factor: reader.one("by", parseName),
    variant: reader.one("lines", (text) => (text === "" ? text : parseName(text))),
    reference: reader.one("reference", parseName),
    base: reader.one("base", parseName),
    work: reader.one("work", oneOf(["fixed", "grows"] as const)) ?? "fixed",
    cpu: reader.one("cpu", parseName),
    show: reader.one("show", oneOf(EXPERIMENT_SHOWS)) ?? "result",
    models: [...new Set(reader.all("model", oneOf(SCALING_MODELS)))],
    log: reader.one("log", oneOf(LOG_AXES)),
    runs: [...new Set(reader.all("run", parseId))].slice(0, 2),
  });
}

export interface ExperimentListView {
  readonly clock: Clock;
  readonly search: string;
}

export function encodeExperimentList(view: ExperimentListView): RawSearch {
  return { ...encodeClock(view.clock), ...(view.search === "" ? {} : { find: view.search }) };
}

export function decodeExperimentList(raw: RawSearch): Decoded<ExperimentListView> {
  const reader = new Reader(raw);
  return reader.finish({ clock: decodeClock(reader), search: reader.one("find", parseFilter) ?? "" });
}

/** Return the runs with one chosen or given up; of three the oldest choice goes. */
export function toggleRun(runs: readonly number[], id: number): readonly number[] {
  return runs.includes(id) ? runs.filter((each) => each !== id) : [...runs, id].slice(-2);
}
