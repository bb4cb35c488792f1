/** The chart of an experiment: repeats as points, means with their intervals, curves of models. Pure. */

import type { LayoutAxis, ScatterData } from "plotly.js";
import type { ExperimentAnalysis, RunLevel } from "../logic/api";
import { inkOf, type Scheme, strokeOf } from "../logic/palette";
import { PLAIN_SCALE } from "../logic/unit";
import { baseLayout, type Figure } from "./figure";

export interface ScalingInput {
  readonly analysis: ExperimentAnalysis;
  readonly show: "result" | "speedup" | "efficiency";
  /** The models to draw, by name; empty for the best one of each variant. */
  readonly models: readonly string[];
  readonly log: "x" | "y" | "xy" | null;
  readonly scheme: Scheme;
  readonly width: number;
  readonly height: number;
  readonly xTitle: string;
  readonly yTitle: string;
}

const MARGINS = { left: 74, right: 18, top: 12, bottom: 52 };
const DASHES: Readonly<Record<string, "solid" | "dash" | "dot" | "dashdot">> = {
  amdahl: "solid",
  usl: "dash",
  bottleneck: "dashdot",
  power: "dot",
};
const ROOM = 0.06;

interface Mark {
  readonly value: number;
  readonly low: number | null;
  readonly high: number | null;
}

function markOf(level: RunLevel, show: ScalingInput["show"]): Mark | null {
  if (show === "result") {
    return { value: level.result.mean, low: level.result.low, high: level.result.high };
  }
  return show === "speedup" ? level.speedup : level.efficiency;
}

/** Return the chart of one result by one factor. Levels that are no numbers stand at equal distances. */
export function buildScalingFigure(input: ScalingInput): Figure {
  const { analysis, show, scheme, width, height } = input;
  const ink = inkOf(scheme);
  const levels = analysis.factor?.levels ?? [""];
  const isNumeric = analysis.factor?.is_numeric === true;
  const place = (level: string, x: number | null): number => (isNumeric ? (x ?? 0) : levels.indexOf(level));
  const variants = analysis.variant?.levels ?? [""];
  const data: Partial<ScatterData>[] = [];
  const xs: number[] = [];
  const ys: number[] = [];
  const common = { type: "scatter" as const, hoverinfo: "skip" as const, showlegend: false };
  variants.forEach((variant, slot) => {
    const { color } = strokeOf(slot, scheme);
    const means = analysis.levels.filter((level) => level.variant === variant);
    const marks = means.flatMap((level) => {
      const mark = markOf(level, show);
      return mark === null ? [] : [{ ...mark, x: place(level.level, level.x) }];
    });
    xs.push(...marks.map(({ x }) => x));
    ys.push(
      ...marks.flatMap(({ value, low, high }) => [value, ...(low === null ? [] : [low]), ...(high === null ? [] : [high])]),
    );
    const scaling = analysis.scaling.find((each) => each.variant === variant);
    const drawn = input.models.length === 0 ? [scaling?.best ?? ""] : input.models;
    for (const { fit, curve } of scaling?.curves ?? []) {
      if (!drawn.includes(fit.model)) {
        continue;
      }
      const last = Math.max(...marks.map(({ x }) => x));
      const points = curve.flatMap((point) => {
        const y = show === "result" ? point.value : point[show];
        return y === null ? [] : [{ x: point.x, y }];
      });
      const inside = points.filter(({ x }) => x <= last);
      const beyond = points.filter(({ x }) => x >= (inside.at(-1)?.x ?? last));
      xs.push(...points.map(({ x }) => x));
      ys.push(...points.map(({ y }) => y));
      for (const [part, piece] of [inside, beyond].entries()) {
        data.push({
          ...common,
          uid: `c${String(slot)}${fit.model}${String(part)}`,
          x: piece.map(({ x }) => x),
          y: piece.map(({ y }) => y),
          mode: "lines",
          // What lies beyond the last level is a prediction.
          line: { color: part === 0 ? color : `${color}59`, width: 1.5, dash: DASHES[fit.model] ?? "solid" },
        });
      }
    }
    const own = show === "result" ? analysis.points.filter((point) => point.variant === variant) : [];
    xs.push(...own.map((point) => place(point.level, point.x)));
    ys.push(...own.map(({ value }) => value));
    data.push({
      ...common,
      uid: `p${String(slot)}`,
      x: own.map((point) => place(point.level, point.x)),
      y: own.map(({ value }) => value),
      mode: "markers",
      marker: { color, size: 6, symbol: "circle-open", opacity: 0.65 },
    });
    const spans = marks.flatMap(({ x, low, high }) => (low === null || high === null ? [] : [{ x, low, high }]));
    data.push({
      ...common,
      uid: `i${String(slot)}`,
      // Gaps between the bars.
      x: spans.flatMap(({ x }) => [x, x, null]),
      y: spans.flatMap(({ low, high }) => [low, high, null]),
      mode: "lines+markers",
      connectgaps: false,
      line: { color, width: 1.6 },
      marker: { color, size: 9, symbol: "line-ew-open" },
    });
    data.push({
      ...common,
      uid: `m${String(slot)}`,
      x: marks.map(({ x }) => x),
      y: marks.map(({ value }) => value),
      mode: isNumeric && scaling?.best !== null ? "markers" : "lines+markers",
      line: { color, width: 1 },
      marker: { color, size: 9, symbol: slot % 2 === 0 ? "circle" : "diamond" },
    });
  });
  const isLogX = isNumeric && input.log?.includes("x") === true;
  const isLogY = input.log?.includes("y") === true;
  const ideal = idealLine(input, xs, isNumeric, ink.zero);
  return {
    data: [...ideal, ...data],
    layout: {
      ...baseLayout(scheme, MARGINS, width, height),
      xaxis: {
        ...axisOf(extentOf(xs, isLogX, false), isLogX, input.xTitle, ink),
        tickmode: "array",
        tickvals: levels.map((level, index) => (isNumeric ? (xOf(analysis, level) ?? index) : index)),
        ticktext: levels.map(shortLevel),
      },
      yaxis: axisOf(extentOf(ys, isLogY, true), isLogY, input.yTitle, ink),
    },
    axisUnit: "",
    newest: null,
    scale: PLAIN_SCALE,
    traces: new Map(),
  };
}

function xOf(analysis: ExperimentAnalysis, level: string): number | null {
  return analysis.levels.find((each) => each.level === level)?.x ?? null;
}

function shortLevel(level: string): string {
  // Plotly reads tags in texts.
  const plain = level.replaceAll("<", "‹").replaceAll(">", "›").replaceAll("&", "＆");
  return plain.length <= 14 ? plain : `${plain.slice(0, 13)}…`;
}

/** Return the line of proportional growth: what a perfect machine would do. */
function idealLine(
  input: ScalingInput,
  xs: readonly number[],
  isNumeric: boolean,
  color: string,
): readonly Partial<ScatterData>[] {
  const reference = input.analysis.scaling[0]?.reference;
  const first = reference === undefined ? null : xOf(input.analysis, reference);
  const levels = input.analysis.levels.flatMap(({ x }) => (x === null ? [] : [x]));
  if (!isNumeric || input.show === "result" || first === null || first <= 0 || xs.length === 0) {
    return [];
  }
  const last = Math.max(...levels);
  return [
    {
      type: "scatter",
      hoverinfo: "skip",
      showlegend: false,
      uid: "ideal",
      x: [first, last],
      y: input.show === "speedup" ? [1, last / first] : [1, 1],
      mode: "lines",
      line: { color, width: 1, dash: "dot" },
    },
  ];
}

function extentOf(values: readonly number[], isLog: boolean, isFromZero: boolean): readonly [number, number] {
  const known = values.filter((value) => Number.isFinite(value) && (!isLog || value > 0));
  if (known.length === 0) {
    return isLog ? [0, 1] : [0, 1];
  }
  const low = Math.min(...known);
  const high = Math.max(...known);
  if (isLog) {
    const room = Math.max(0.08, (Math.log10(high) - Math.log10(low)) * ROOM);
    return [Math.log10(low) - room, Math.log10(high) + room];
  }
  const bottom = isFromZero ? Math.min(0, low) : low;
  const room = (high - bottom || Math.abs(high) || 1) * ROOM;
  return [isFromZero && bottom === 0 ? 0 : bottom - room, high + room];
}

function axisOf(range: readonly [number, number], isLog: boolean, title: string, ink: ReturnType<typeof inkOf>): LayoutAxis {
  return {
    type: isLog ? "log" : "linear",
    range: [...range],
    title: { text: shortTitle(title), standoff: 8 },
    fixedrange: true,
    gridcolor: ink.grid,
    linecolor: ink.zero,
    showline: true,
    zeroline: false,
    ticks: "outside",
    ticklen: 3,
    tickcolor: ink.zero,
    tickangle: 0,
    ...(isLog ? { dtick: 1 } : {}),
  };
}

function shortTitle(title: string): string {
  return title.replaceAll("<", "‹").replaceAll(">", "›").replaceAll("&", "＆");
}
