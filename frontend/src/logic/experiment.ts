/** What the runs of an experiment say, in words and numbers of the page. Pure. */

import type { ExperimentAnalysis, ExperimentRun, RunLevel, ScalingFit, VariantScaling } from "./api";
import { formatDigits, formatScore } from "./number";
import { counted } from "./counted";
import { type DurationMs, type EpochMs, fromApi, SECOND, toDurationMs, type Window } from "./time";

const verdictFalls = (factor: string, slope: string, doubling: string) =>
  `Falls with ${factor} to the power ${slope}: doubling ${factor} leaves ${doubling} of it`;

const verdictPower = (factor: string, slope: string, doubling: string) =>
  `Grows with ${factor} to the power ${slope}: doubling ${factor} costs ${doubling} times as much`;

export type Tone = "good" | "limit" | "plain";

export interface Verdict {
  readonly text: string;
  readonly detail: string;
  readonly tone: Tone;
}

/** Return how many times: `×47`, `×1.98`. */
export function formatTimes(value: number | null): string {
  return value === null ? "–" : `×${formatScore(value)}`;
}

/** Return an interval; an en dash for a single run, which has none. */
export function formatInterval(low: number | null, high: number | null): string {
  return low === null || high === null ? "–" : `${formatDigits(low)} – ${formatDigits(high)}`;
}

/** Return a share of one as percent. */
export function formatPercent(share: number | null): string {
  return share === null ? "–" : `${formatDigits(100 * share)} %`;
}

/** Return how far measured values are from a model, by level: `1: +0.5 %, 2: −3 %`. */
export function describeResiduals(fit: ScalingFit): string {
  return fit.residuals
    .map(({ x, residual_pct }) => `${formatDigits(x)}: ${residual_pct < 0 ? "−" : "+"}${formatScore(Math.abs(residual_pct))} %`)
    .join(", ");
}

/** Return the value of a result of a run. Missing: null where the run has none. */
export function resultOf(run: ExperimentRun, name: string): { readonly value: number; readonly unit: string } | null {
  return run.results.find((each) => each.name === name) ?? null;
}

/** Return the window of a run. Missing: null where its end is unknown, or it had no duration. */
export function windowOfRun(run: ExperimentRun): Window | null {
  if (run.end === null) {
    return null;
  }
  const window = { start: fromApi(run.start), end: fromApi(run.end) };
  return window.end > window.start ? window : null;
}

/** Return the length of the longer of two runs in whole seconds, for series over each other. Missing: null where both are unknown. */
export function longerOf(first: ExperimentRun, second: ExperimentRun): DurationMs | null {
  const lengths = [first, second].map(windowOfRun).flatMap((window) => (window === null ? [] : [window.end - window.start]));
  return lengths.length === 0 ? null : toDurationMs(SECOND * Math.max(1, Math.ceil(Math.max(...lengths) / SECOND)));
}

/** Return the start of a run. */
export function startOfRun(run: ExperimentRun): EpochMs {
  return fromApi(run.start);
}

function parameter(fit: ScalingFit, name: string) {
  return fit.parameters.find((each) => each.name === name) ?? null;
}

/** Return what a fitted model says, in words. `levels` are those of its variant. */
export function describeFit(fit: ScalingFit, factor: string, levels: readonly RunLevel[]): Verdict {
  const last = Math.max(...fit.residuals.map(({ x }) => x));
  const quality = fit.r2 === null ? "" : `R² ${formatDigits(fit.r2)}, ${counted(fit.n_runs, "run")}.`;
  const most = fit.max_speedup === null ? null : formatScore(fit.max_speedup);
  switch (fit.model) {
    case "bottleneck": {
      const knee = parameter(fit, "knee");
      const peak = fit.peak_x;
      if (peak === null || knee === null) {
        return { text: `No limit up to ${factor}=${formatDigits(last)}: it scales linearly`, detail: quality, tone: "good" };
      }
      // The first level that was measured at the knee or beyond it.
      const full = levels.find(({ x }) => x !== null && x >= peak * 0.95);
      const gain = full?.speedup?.value ?? null;
      const detail = `Knee at ${formatDigits(knee.value)} (95 % interval ${intervalOf(knee)}). ${quality}`;
      return {
        text: `Full at ${factor}=${full?.level ?? formatDigits(peak)}: ${gain === null ? (most ?? "") : formatScore(gain)} times as fast as the reference; more adds nothing`,
        detail,
        tone: "limit",
      };
    }
    case "amdahl": {
      const serial = parameter(fit, "alpha");
      const share = serial === null ? "" : formatDigits(100 * serial.value);
      const detail = serial === null ? quality : `95 % interval ${intervalOf(serial, 100, " %")}. ${quality}`;
      const { low, high } = serial ?? { low: null, high: null };
      if (low === null || high === null) {
        return { text: `Too few runs up to ${factor}=${formatDigits(last)} to tell the serial share`, detail, tone: "plain" };
      }
      return most === null || low === 0
        ? {
            text: `No limit seen up to ${factor}=${formatDigits(last)}: the serial share is below ${formatDigits(100 * high)} %`,
            detail,
            tone: "good",
          }
        : { text: `${share} % serial: at most ${most} times as fast`, detail, tone: "limit" };
    }
    case "usl": {
      const alpha = parameter(fit, "alpha");
      const beta = parameter(fit, "beta");
      const detail = `Contention ${formatDigits(100 * (alpha?.value ?? 0))} %, coherency ${formatDigits(100 * (beta?.value ?? 0))} %. ${quality}`;
      return fit.peak_x === null
        ? { text: `No peak: at most ${most ?? "∞"} times as fast`, detail, tone: most === null ? "good" : "limit" }
        : {
            text: `Fastest with ${factor}=${formatScore(fit.peak_x)} (${most ?? ""} times as fast as 1); more makes it slower`,
            detail,
            tone: "limit",
          };
    }
    case "power": {
      const slope = parameter(fit, "slope");
      const value = slope?.value ?? 0;
      const detail = slope === null ? quality : `95 % interval ${intervalOf(slope)}. ${quality}`;
      const said = value < 0 ? verdictFalls : verdictPower;
      return { text: said(factor, formatDigits(value), formatScore(2 ** value)), detail, tone: "plain" };
    }
  }
}

function intervalOf(found: { readonly low: number | null; readonly high: number | null }, factor = 1, unit = ""): string {
  return found.low === null || found.high === null
    ? "unknown: too few runs"
    : `${formatDigits(factor * found.low)} – ${formatDigits(factor * found.high)}${unit}`;
}

/** Return the sentence that leads: of the best model, else why there is none. */
export function leadOf(analysis: ExperimentAnalysis, scaling: VariantScaling): Verdict {
  const best = scaling.curves.find(({ fit }) => fit.model === scaling.best);
  const levels = analysis.levels.filter(({ variant }) => variant === scaling.variant);
  if (best !== undefined) {
    return describeFit(best.fit, analysis.factor?.name ?? "", levels);
  }
  return { text: scaling.refusals[0]?.reason ?? "", detail: "", tone: "plain" };
}

/** Return the largest difference between levels of a factor that is no number: `first takes ×47 as long as reference`. */
export function extremeOf(analysis: ExperimentAnalysis): string | null {
  const { result, factor, levels } = analysis;
  if (result === null || factor === null || factor.is_numeric || levels.length < 2) {
    return null;
  }
  const byMean = [...levels].sort((a, b) => a.result.mean - b.result.mean);
  const [low, high] = [byMean[0], byMean.at(-1)];
  if (low === undefined || high === undefined || low.result.mean <= 0) {
    return null;
  }
  const ratio = formatScore(high.result.mean / low.result.mean);
  const name = (level: RunLevel): string => (level.variant === "" ? level.level : `${level.variant}, ${level.level}`);
  return `${result.name} of ${name(high)} is ${ratio} times that of ${name(low)}`;
}

/** Return factors as text, one a line: what a person edits. */
export function formatFactors(factors: Readonly<Record<string, string>>): string {
  return Object.entries(factors)
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");
}

/** Return the factors of lines NAME=VALUE, or the first line that is none. */
export function parseFactorLines(text: string): Readonly<Record<string, string>> | string {
  const found: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const at = line.indexOf("=");
    const name = line.slice(0, at).trim();
    const value = line.slice(at + 1).trim();
    if (line.trim() === "") {
      continue;
    }
    if (at < 1 || name === "" || value === "") {
      return line.trim();
    }
    found[name] = value;
  }
  return found;
}

/** Return results as text, one a line: what a person edits. */
export function formatResultLines(
  results: readonly { readonly name: string; readonly value: number; readonly unit: string }[],
): string {
  return results.map(({ name, value, unit }) => `${name}=${String(value)}${unit === "" ? "" : ` ${unit}`}`).join("\n");
}

/** Return what is wrong with lines of factors; null if they can be read. */
export function factorsProblem(text: string): string | null {
  const found = parseFactorLines(text);
  return typeof found === "string" ? `“${found}” is not NAME=VALUE` : null;
}

/** Return what is wrong with lines of results; null if they can be read. */
export function resultsProblem(text: string): string | null {
  const found = parseResultLines(text);
  return typeof found === "string" ? `“${found}” is not NAME=VALUE UNIT` : null;
}

/** Return the results of lines NAME=VALUE UNIT, or the first line that is none. */
export function parseResultLines(
  text: string,
): readonly { readonly name: string; readonly value: number; readonly unit: string }[] | string {
  const found = [];
  for (const line of text.split("\n")) {
    if (line.trim() === "") {
      continue;
    }
    const [, name = "", value = "", unit = ""] = /^\s*([^=]+?)\s*=\s*(\S+)\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === "" || value === "" || !Number.isFinite(Number(value))) {
      return line.trim();
    }
    found.push({ name, value: Number(value), unit });
  }
  return found;
}
