/** Turn series into Plotly figures. Pure: no DOM, no Plotly, no clock. Gaps stay gaps; nothing is smoothed or averaged. */

import type { Data, Layout, LayoutAxis, ScatterData } from "plotly.js";
import type { SeriesBlock } from "../logic/block";
import type { BandPiece } from "../logic/band";
import type { ByteUnit } from "../logic/look";
import { inkOf, type Scheme, strokeOf, type Stroke } from "../logic/palette";
import type { ReferenceLine } from "../logic/reference";
import { newestTime, piecesOf, seriesKey } from "../logic/series";
import type { Margins } from "../logic/surface";
import { labelledTicks } from "../logic/ticks";
import type { Window } from "../logic/time";
import type { LabelledAxis, Scale } from "../logic/unit";
import type { Zone } from "../logic/zone";
import { boundedAxis, logAxisOf, valueAxisOf } from "./axis";

export interface Figure<Trace extends Data = Data> {
  readonly data: readonly Trace[];
  readonly layout: Partial<Layout>;
  /** The unit of the value axis, which may be larger than the source unit. */
  readonly axisUnit: string;
  readonly scale: Scale;
  /** The time of the newest point; null without points. */
  readonly newest: number | null;
  /** The number of each series in the names of its traces (`uid`), by key: so one line is found among the others. */
  readonly traces: ReadonlyMap<string, number>;
}

/** One line: real samples in order of time; null = a gap. */
export interface Line {
  /** Begins the names of the line's traces. */
  readonly uid: string;
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
  readonly stroke: Stroke;
}

export interface PanelInput {
  readonly block: SeriesBlock;
  readonly window: Window;
  readonly unit: string;
  readonly isPercent: boolean;
  /** Rates and percentages start at zero; a level such as free memory may show its movement instead. */
  readonly isLevel: boolean;
  readonly isStacked: boolean;
  readonly isLog: boolean;
  /** Each sample holds until the next one. */
  readonly isStep: boolean;
  /** The ends of the axis that the user chose; null: from the samples. */
  readonly low: number | null;
  readonly high: number | null;
  readonly bytes: ByteUnit | null;
  readonly references: readonly ReferenceLine[];
  /** Keys of the series hidden by the legend. */
  readonly hidden: ReadonlySet<string>;
  /** The palette index of each series, by key. */
  readonly slots: ReadonlyMap<string, number>;
  readonly zone: Zone;
  readonly scheme: Scheme;
  readonly margins: Margins;
  readonly width: number;
  readonly height: number;
  /** The baseline bands of some of the lines. */
  readonly bands: readonly DrawnBand[];
}

/** The band of one line, in its colour. */
export interface DrawnBand {
  /** The key of the line. */
  readonly key: string;
  readonly pieces: readonly BandPiece[];
  readonly color: string;
}

const PIXELS_PER_TIME_TICK = 88;
// Few samples are drawn as dots too, to show where they are.
const MAX_DOTS = 40;
// Dense points are clearer with thinner lines.
const MAX_THICK = 900;
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

/** Return the name of the traces of a series. */
export function uidOf(slot: number): string {
  return `s${String(slot)}`;
}

function drawLine(line: Line, axis: number, isStep: boolean): readonly Partial<ScatterData>[] {
  const pieces = piecesOf(line.values);
  const nValues = pieces.reduce((sum, [from, to]) => sum + to - from, 0);
  const isDotted = nValues <= MAX_DOTS;
  const common = {
    type: "scatter" as const,
    hoverinfo: "skip" as const,
    showlegend: false,
    ...(axis > 0 ? { yaxis: `y${String(axis + 1)}` } : {}),
  };
  const traces: Partial<ScatterData>[] = [
    {
      ...common,
      uid: line.uid,
      // Plotly only reads the arrays; copying every point would cost more than it protects.
      x: line.times as number[],
      y: line.values as number[],
      mode: isDotted ? "lines+markers" : "lines",
      connectgaps: false,
      line: {
        color: line.stroke.color,
        dash: line.stroke.dash,
        width: nValues > MAX_THICK ? 1 : 1.4,
        simplify: true,
        ...(isStep ? { shape: "hv" as const } : {}),
      },
      marker: { color: line.stroke.color, size: 4 },
    },
  ];
  const alone = isDotted ? [] : pieces.filter(([from, to]) => to - from === 1).map(([from]) => from);
  if (alone.length > 0) {
    // A sample between two gaps has no line.
    traces.push({
      ...common,
      uid: `${line.uid}a`,
      x: alone.map((index) => line.times[index] ?? null),
      y: alone.map((index) => line.values[index] ?? null),
      mode: "markers",
      marker: { color: line.stroke.color, size: 4 },
    });
  }
  return traces;
}

/** Return cumulative sums: entry i is the sum of series 0..i. Missing: null if one of them has no sample at that time. */
export function stackLines(lines: readonly Line[]): readonly Line[] {
  let below = new Map<number, number | null>();
  return lines.map((line, index) => {
    const next = new Map<number, number | null>();
    const values = line.values.map((value, position) => {
      const time = line.times[position] ?? 0;
      const base = index === 0 ? 0 : (below.get(time) ?? null);
      const sum = value === null || base === null ? null : base + value;
      next.set(time, sum);
      return sum;
    });
    below = next;
    return { ...line, values };
  });
}

/**
 * Return areas down to zero, highest first, so that lower ones cover their part. Each piece is a separate
 * trace, so gaps stay open.
 */
function drawStack(lines: readonly Line[], background: string): readonly Partial<ScatterData>[] {
  return [...stackLines(lines)]
    .reverse()
    .flatMap((line) =>
      piecesOf(line.values).map(([from, to], piece) => ({
        uid: `${line.uid}p${String(piece)}`,
        type: "scatter" as const,
        hoverinfo: "skip" as const,
        showlegend: false,
        x: line.times.slice(from, to),
        y: line.values.slice(from, to),
        mode: to - from === 1 ? ("lines+markers" as const) : ("lines" as const),
        line: { color: line.stroke.color, width: 1, simplify: true },
        marker: { color: line.stroke.color, size: 3 },
        fill: "tozeroy" as const,
        fillcolor: blend(line.stroke.color, background, 0.45),
      })),
    );
}

/** Mix two colours to an opaque one, because areas overlap. */
export function blend(color: string, background: string, share: number): string {
  const channel = (hex: string, index: number): number => Number.parseInt(hex.slice(1 + 2 * index, 3 + 2 * index), 16);
  const mix = [0, 1, 2].map((index) => Math.round(channel(color, index) * share + channel(background, index) * (1 - share)));
  return `rgb(${mix.join(", ")})`;
}

/** Return a translucent colour, because bands may overlap. */
function translucent(color: string, alpha: number): string {
  const channel = (index: number): number => Number.parseInt(color.slice(1 + 2 * index, 3 + 2 * index), 16);
  return `rgba(${String(channel(0))}, ${String(channel(1))}, ${String(channel(2))}, ${String(alpha)})`;
}

/** Return the layout shared by all figures. */
export function baseLayout(scheme: Scheme, margins: Margins, width: number, height: number): Partial<Layout> {
  const ink = inkOf(scheme);
  return {
    width,
    height,
    margin: { l: margins.left, r: margins.right, t: margins.top, b: margins.bottom, pad: 0 },
    paper_bgcolor: "rgba(0, 0, 0, 0)",
    plot_bgcolor: "rgba(0, 0, 0, 0)",
    font: { family: FONT, size: 11, color: ink.text },
    showlegend: false,
    hovermode: false,
    dragmode: false,
    uirevision: "fixed",
  };
}

/** Return the time axis of a window. */
export function timeAxis(window: Window, zone: Zone, scheme: Scheme, width: number, margins: Margins): LayoutAxis {
  const ink = inkOf(scheme);
  const ticks = labelledTicks(window, zone, PIXELS_PER_TIME_TICK, width, margins);
  return {
    type: "linear",
    range: [window.start, window.end],
    tickmode: "array",
    tickvals: ticks.map(({ at }) => at),
    ticktext: ticks.map(({ label }) => label),
    tickangle: 0,
    // Those that would stick out are empty already: to have Plotly measure them takes longer than drawing all.
    ticklabeloverflow: "allow",
    fixedrange: true,
    gridcolor: ink.grid,
    linecolor: ink.zero,
    showline: true,
    zeroline: false,
    ticks: "outside",
    ticklen: 3,
    tickcolor: ink.zero,
  };
}

/** Return the value axis. */
export function yAxis(axis: LabelledAxis, scheme: Scheme): LayoutAxis {
  const ink = inkOf(scheme);
  // A margin above keeps a line at the top of the axis from being cut in half.
  const room = (axis.high - axis.low) * 0.02;
  return {
    type: "linear",
    range: [axis.low - (axis.low < 0 ? room : 0), axis.high + room],
    tickmode: "array",
    tickvals: [...axis.ticks],
    ticktext: [...axis.labels],
    ticklabeloverflow: "allow",
    fixedrange: true,
    gridcolor: ink.grid,
    zerolinecolor: ink.zero,
    zeroline: true,
  };
}

/** Return the band behind the lines: p5 to p95 as an area, the median dashed. */
function drawBand({ pieces, color }: DrawnBand): readonly Partial<ScatterData>[] {
  const common = { type: "scatter" as const, hoverinfo: "skip" as const, showlegend: false, mode: "lines" as const };
  return pieces.flatMap(({ times, low, middle, high }) => [
    {
      ...common,
      x: [...times, ...[...times].reverse()],
      y: [...high, ...[...low].reverse()],
      fill: "toself" as const,
      fillcolor: translucent(color, 0.16),
      line: { width: 0 },
    },
    { ...common, x: [...times], y: [...middle], line: { color, width: 1.4, dash: "dash" as const } },
  ]);
}

/** Return the values of the bands that the axis must include. */
function bandLines(bands: readonly DrawnBand[]): readonly Line[] {
  return bands.flatMap(({ pieces, color }) =>
    pieces.map(({ times, low, high }) => ({
      times: [...times, ...times],
      values: [...low, ...high],
      uid: "",
      stroke: { color, dash: "dash" as const },
    })),
  );
}

/** Return the ends of a logarithmic axis as Plotly wants them: powers of ten. */
function logRange(axis: LabelledAxis): [number, number] {
  return [Math.log10(axis.low), Math.log10(axis.high) + 0.02];
}

/**
 * Return a reference line with its label; nothing outside the axis, which it must not stretch. Of an expected value outside it, the
 * label stands at the edge.
 */
function drawReference(
  { value, label, isExpected }: ReferenceLine,
  window: Window,
  axis: LabelledAxis,
  scheme: Scheme,
): readonly Partial<ScatterData>[] {
  const isBeyond = value < axis.low || value > axis.high;
  if (isBeyond && !isExpected) {
    return [];
  }
  const color = inkOf(scheme).text;
  const isAbove = value > axis.high;
  if (isBeyond) {
    return [
      {
        type: "scatter" as const,
        hoverinfo: "skip" as const,
        showlegend: false,
        mode: "text" as const,
        x: [window.end],
        y: [isAbove ? axis.high : axis.low],
        text: [`${label} ${isAbove ? "↑" : "↓"}`],
        textposition: isAbove ? "bottom left" : "top left",
        textfont: { size: 10, color },
      },
    ];
  }
  return [
    {
      type: "scatter" as const,
      hoverinfo: "skip" as const,
      showlegend: false,
      mode: "text+lines" as const,
      x: [window.start, window.end],
      y: [value, value],
      text: ["", label],
      textposition: "top left" as const,
      textfont: { size: 10, color },
      line: { color, width: 1, dash: "dashdot" },
    },
  ];
}

/** Return whether a panel stacks its series. */
export function isStackDrawn(block: SeriesBlock, isStacked: boolean): boolean {
  // The points of envelopes have different times, so their sums would never have occurred.
  return isStacked && block.resolution === "raw" && isSummable(block);
}

/** Return whether the series are parts of one whole: the fields of one instance, or one field of several instances. */
function isSummable({ series }: SeriesBlock): boolean {
  const count = (of: (one: SeriesBlock["series"][number]) => string): number => new Set(series.map(of)).size;
  return count(({ unit }) => unit) <= 1 && (count(({ instance }) => instance) <= 1 || count(({ field }) => field) <= 1);
}

/** Return the figure of a panel of the host page. */
export function buildPanelFigure(input: PanelInput): Figure<Partial<ScatterData>> {
  const { block, scheme, margins, width, height, unit } = input;
  const lines: readonly Line[] = block.series.flatMap((series) => {
    const key = seriesKey(series);
    const stroke = strokeOf(input.slots.get(key) ?? 0, scheme);
    const uid = uidOf(input.slots.get(key) ?? 0);
    return input.hidden.has(key) ? [] : [{ uid, times: series.times, values: series.values, stroke }];
  });
  const isStacked = isStackDrawn(block, input.isStacked);
  const bands = isStacked ? [] : input.bands;
  const drawn = isStacked ? stackLines(lines) : lines;
  const innerHeight = height - margins.top - margins.bottom;
  const seen = [...drawn, ...bandLines(bands)];
  // The areas of a stack begin at zero, which a logarithmic axis does not have.
  const ofPowers = input.isLog && !isStacked ? logAxisOf(seen, unit, input.bytes) : null;
  const linear = valueAxisOf(seen, unit, input.isPercent, input.isLevel && !isStacked, innerHeight, input.bytes);
  const axis = ofPowers ?? boundedAxis(linear, input, innerHeight);
  const references = input.references.flatMap((line) => drawReference(line, input.window, axis, scheme));
  return {
    data: isStacked
      ? [...drawStack(lines, inkOf(scheme).background), ...references]
      : [...bands.flatMap(drawBand), ...lines.flatMap((line) => drawLine(line, 0, input.isStep)), ...references],
    layout: {
      ...baseLayout(scheme, margins, width, height),
      xaxis: timeAxis(input.window, input.zone, scheme, width, margins),
      yaxis: ofPowers === null ? yAxis(axis, scheme) : { ...yAxis(axis, scheme), type: "log", range: logRange(axis) },
    },
    axisUnit: axis.unit,
    scale: axis.scale,
    newest: newestTime(block),
    traces: input.slots,
  };
}
