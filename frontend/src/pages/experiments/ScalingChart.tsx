import { NativeSelect, SegmentedControl, Text, useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useMemo } from "react";
import type { ExperimentAnalysis } from "../../logic/api";
import { strokeOf } from "../../logic/palette";
import { Plot } from "../../plot/Plot";
import { buildScalingFigure } from "../../plot/scaling";
import { EXPERIMENT_SHOWS, type ExperimentView, LOG_AXES, type LogAxes, SCALING_MODELS } from "../../state/experiment";
import { words } from "../../words";

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
  const say = words.experiments.chart;
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const { ref, width } = useElementSize();
  const { result, factor, variant } = analysis;
  const name = result?.name ?? "";
  const unit = result?.unit ?? "";
  const by = factor?.name ?? say.everything;
  const yTitle = { result: unit === "" ? name : `${name} (${unit})`, speedup: say.timesFaster, efficiency: say.shareOfIdeal }[
    view.show
  ];
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
    <section className="card experiment-card" aria-label={say.title}>
      <div className="experiment-controls">
        <NativeSelect
          size="xs"
          label={say.result}
          value={name}
          data={analysis.results.map((each) => each.name)}
          onChange={(event) => {
            onView({ result: event.currentTarget.value });
          }}
        />
        <NativeSelect
          size="xs"
          label={say.by}
          value={factor?.name ?? ""}
          data={analysis.factors.map((each) => each.name)}
          disabled={analysis.factors.length === 0}
          onChange={(event) => {
            onView({ factor: event.currentTarget.value, variant: null, reference: null, base: null });
          }}
        />
        <NativeSelect
          size="xs"
          label={say.lines}
          value={view.variant === null ? ALL_THAT_DIFFER : view.variant === "" ? NO_LINES : view.variant}
          data={[
            { value: ALL_THAT_DIFFER, label: say.allLines },
            { value: NO_LINES, label: say.noLines },
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
            label={say.base}
            value={analysis.base}
            data={variant.levels}
            onChange={(event) => {
              onView({ base: event.currentTarget.value });
            }}
          />
        )}
        <NativeSelect
          size="xs"
          label={say.reference}
          value={view.reference ?? ""}
          data={[{ value: "", label: say.firstLevel }, ...(factor?.levels ?? [])]}
          onChange={(event) => {
            onView({ reference: event.currentTarget.value === "" ? null : event.currentTarget.value });
          }}
        />
        {result?.better === "lower" && (
          <NativeSelect
            size="xs"
            label={say.work}
            value={view.work}
            data={[
              { value: "fixed", label: say.workFixed },
              { value: "grows", label: say.workGrows },
            ]}
            onChange={(event) => {
              onView({ work: event.currentTarget.value === "grows" ? "grows" : "fixed" });
            }}
          />
        )}
        <NativeSelect
          size="xs"
          label={say.models}
          value={view.models.length === 0 ? "" : (view.models[0] ?? "")}
          data={[
            { value: "", label: say.bestModel },
            ...SCALING_MODELS.map((model) => ({ value: model, label: say.modelNames[model] })),
          ]}
          onChange={(event) => {
            const model = event.currentTarget.value;
            onView({ models: model === "" ? [] : SCALING_MODELS.filter((each) => each === model) });
          }}
        />
        <NativeSelect
          size="xs"
          label={say.log}
          value={view.log ?? ""}
          data={[{ value: "", label: say.linear }, ...LOG_AXES.map((axes) => ({ value: axes, label: say.logNames[axes] }))]}
          onChange={(event) => {
            onView({ log: event.currentTarget.value === "" ? null : (event.currentTarget.value as LogAxes) });
          }}
        />
        <NativeSelect
          size="xs"
          label={say.cpu}
          value={view.cpu ?? ""}
          data={[{ value: "", label: say.noCpu }, ...analysis.results.map((each) => each.name)]}
          onChange={(event) => {
            onView({ cpu: event.currentTarget.value === "" ? null : event.currentTarget.value });
          }}
        />
      </div>
      <SegmentedControl
        size="xs"
        mb={6}
        aria-label={say.show}
        value={view.show}
        data={EXPERIMENT_SHOWS.map((show) => ({ value: show, label: say.shows[show] }))}
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
        {width > 0 && <Plot figure={figure} label={say.label(name, by)} />}
      </div>
      <Text fz="xs" className="soft">
        {say.legend}
      </Text>
    </section>
  );
}
