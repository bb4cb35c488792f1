import { NativeSelect, SegmentedControl, Text, useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useMemo } from "react";
import type { ExperimentAnalysis } from "../../logic/api";
import { strokeOf } from "../../logic/palette";
import { Plot } from "../../plot/Plot";
import { buildScalingFigure } from "../../plot/scaling";
import {
  EXPERIMENT_SHOWS,
  type ExperimentView,
  LOG_AXES,
  type LogAxes,
  SCALING_MODELS,
  SCALING_MODEL_NAMES,
} from "../../state/experiment";

const LOG_NAMES = { x: "log x", y: "log y", xy: "log x and y" };

const SHOWS = { result: "Result", speedup: "Speed-up", efficiency: "Efficiency" };

const HEIGHT = 400;
const MIN_WIDTH = 260;

// Choices of lines that are no factors: the name of a factor has no "=".
const ALL_THAT_DIFFER = "=all";
const NO_LINES = "=none";

interface ScalingChartProps {
  readonly analysis: ExperimentAnalysis;
  readonly view: ExperimentView;
  readonly onView: (change: Partial<ExperimentView>) => void;
}

/** The chart of one result by one factor, and what is drawn. */
export function ScalingChart({ analysis, view, onView }: ScalingChartProps) {
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const { ref, width } = useElementSize();
  const { result, factor, variant } = analysis;
  const name = result?.name ?? "";
  const unit = result?.unit ?? "";
  const by = factor?.name ?? "all runs";
  const yTitle = {
    result: unit === "" ? name : `${name} (${unit})`,
    speedup: "times as fast",
    efficiency: "share of proportional growth",
  }[view.show];
  const figure = useMemo(
    () =>
      buildScalingFigure({
        analysis,
        show: view.show,
        models: view.models,
        log: view.log,
        scheme,
        width: width < MIN_WIDTH ? MIN_WIDTH : width,
        height: HEIGHT,
        xTitle: by,
        yTitle,
      }),
    [analysis, view.show, view.models, view.log, scheme, width, by, yTitle],
  );
  return (
    <section className="card experiment-card" aria-label="Chart">
      <div className="experiment-controls">
        <NativeSelect
          size="xs"
          label="Result"
          value={name}
          data={analysis.results.map((each) => each.name)}
          onChange={(event) => {
            onView({ result: event.currentTarget.value });
          }}
        />
        <NativeSelect
          size="xs"
          label="by"
          value={factor?.name ?? ""}
          data={analysis.factors.map((each) => each.name)}
          disabled={analysis.factors.length === 0}
          onChange={(event) => {
            onView({ factor: event.currentTarget.value, variant: null, reference: null, base: null });
          }}
        />
        <NativeSelect
          size="xs"
          label="Lines"
          value={view.variant === null ? ALL_THAT_DIFFER : view.variant === "" ? NO_LINES : view.variant}
          data={[
            { value: ALL_THAT_DIFFER, label: "all that differ" },
            { value: NO_LINES, label: "one line" },
            ...analysis.factors.filter((each) => each.name !== factor?.name).map((each) => each.name),
          ]}
          onChange={(event) => {
            const chosen = event.currentTarget.value;
            onView({ variant: chosen === ALL_THAT_DIFFER ? null : chosen === NO_LINES ? "" : chosen, base: null });
          }}
        />
        {variant !== null && (
          <NativeSelect
            size="xs"
            label="× of"
            value={analysis.base}
            data={variant.levels}
            onChange={(event) => {
              onView({ base: event.currentTarget.value });
            }}
          />
        )}
        <NativeSelect
          size="xs"
          label="Reference"
          value={view.reference ?? ""}
          data={[{ value: "", label: "first level" }, ...(factor?.levels ?? [])]}
          onChange={(event) => {
            onView({ reference: event.currentTarget.value === "" ? null : event.currentTarget.value });
          }}
        />
        {result?.better === "lower" && (
          <NativeSelect
            size="xs"
            label="Work"
            value={view.work}
            data={[
              { value: "fixed", label: "fixed: shared by all" },
              { value: "grows", label: "grows with the factor" },
            ]}
            onChange={(event) => {
              onView({ work: event.currentTarget.value === "grows" ? "grows" : "fixed" });
            }}
          />
        )}
        <NativeSelect
          size="xs"
          label="Curves"
          value={view.models.length === 0 ? "" : (view.models[0] ?? "")}
          data={[
            { value: "", label: "best model" },
            ...SCALING_MODELS.map((model) => ({ value: model, label: SCALING_MODEL_NAMES[model] })),
          ]}
          onChange={(event) => {
            const model = event.currentTarget.value;
            onView({ models: model === "" ? [] : SCALING_MODELS.filter((each) => each === model) });
          }}
        />
        <NativeSelect
          size="xs"
          label="Log axes"
          value={view.log ?? ""}
          data={[{ value: "", label: "linear" }, ...LOG_AXES.map((axes) => ({ value: axes, label: LOG_NAMES[axes] }))]}
          onChange={(event) => {
            onView({ log: event.currentTarget.value === "" ? null : (event.currentTarget.value as LogAxes) });
          }}
        />
        <NativeSelect
          size="xs"
          label="Groups by CPU"
          value={view.cpu ?? ""}
          data={[{ value: "", label: "none" }, ...analysis.results.map((each) => each.name)]}
          onChange={(event) => {
            onView({ cpu: event.currentTarget.value === "" ? null : event.currentTarget.value });
          }}
        />
      </div>
      <SegmentedControl
        size="xs"
        mb={6}
        aria-label="Value axis"
        value={view.show}
        data={EXPERIMENT_SHOWS.map((show) => ({ value: show, label: SHOWS[show] }))}
        onChange={(show) => {
          onView({ show });
        }}
      />
      {variant !== null && (
        <Text fz="xs" component="div" mb={4}>
          {variant.levels.map((level, slot) => (
            <span key={level} className="experiment-legend">
              <span className="experiment-swatch" style={{ background: strokeOf(slot, scheme).color }} aria-hidden />
              {variant.name}={level}
            </span>
          ))}
        </Text>
      )}
      <div ref={ref} style={{ minHeight: HEIGHT, overflow: "hidden" }}>
        {width > 0 && (
          <Plot
            figure={figure}
            label={`Chart of ${name} by ${by}: circles are runs, filled marks their means with 95 % intervals, lines are models. The table below has the numbers`}
          />
        )}
      </div>
      <Text fz="xs" className="soft">
        ○ a run · ● mean with its 95 % interval · line: model, pale where it predicts · dotted: in proportion (speed-up,
        efficiency)
      </Text>
    </section>
  );
}
