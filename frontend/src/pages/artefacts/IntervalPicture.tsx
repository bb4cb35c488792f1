import { Text, useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { artefactIntervalsQuery } from "../../api/artefacts";
import { PendingView } from "../../components/StateView";
import type { IntervalView } from "../../logic/api";
import { intervalLabels } from "../../logic/drawing";
import { type Scheme, strokeOf } from "../../logic/palette";
import type { Zone } from "../../logic/zone";
import { buildCurveFigure } from "../../plot/curves";
import { Plot } from "../../plot/Plot";

/** More small graphs push the table out of sight. */
const MAX_LINES = 8;
const HEIGHT = 104;
const MARGINS = { left: 70, right: 20, top: 8, bottom: 22 };

interface IntervalPictureProps {
  readonly artefact: number;
  readonly position: number;
  readonly column: string;
  readonly zone: Zone;
}

/** A column of a table that was printed every interval: a small graph for each key, as their values differ by powers of ten. */
export function IntervalPicture({ artefact, position, column, zone }: IntervalPictureProps) {
  const { ref, width } = useElementSize();
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const found = useQuery(artefactIntervalsQuery(artefact, position, column, MAX_LINES));
  if (found.data === undefined) {
    return <PendingView query={found} what={`${column} over time`} isCompact />;
  }
  const view = found.data;
  return (
    <div ref={ref}>
      <Text fz="xs" className="soft">
        {`${view.title}${view.unit === "" ? "" : ` (${view.unit})`} in each report, with an axis of its own each:`}{" "}
        {view.n_keys > view.lines.length && `The ${String(view.lines.length)} with the largest values of ${String(view.n_keys)}.`}{" "}
        {view.clock === "report" && "The text has no times; reports are numbered."}
      </Text>
      {width > 0 &&
        view.lines.map(({ key, values }) => (
          <OneLine
            key={key.join("\n")}
            name={key.filter(Boolean).join(" ")}
            values={values}
            view={view}
            zone={zone}
            scheme={scheme}
            width={width}
          />
        ))}
    </div>
  );
}

interface OneLineProps {
  readonly name: string;
  readonly values: readonly (number | null)[];
  readonly view: IntervalView;
  readonly zone: Zone;
  readonly scheme: Scheme;
  readonly width: number;
}

function OneLine({ name, values, view, zone, scheme, width }: OneLineProps) {
  const figure = useMemo(
    () =>
      buildCurveFigure({
        columns: intervalLabels(view, zone),
        places: view.times,
        lines: [{ values, stroke: strokeOf(0, scheme) }],
        unit: view.unit,
        scheme,
        width,
        height: HEIGHT,
        margins: MARGINS,
      }),
    [values, view, zone, scheme, width],
  );
  return (
    <>
      <Text fz="xs" className="artefact-name">
        {name} {figure.axisUnit !== "" && <span className="soft">({figure.axisUnit})</span>}
      </Text>
      <Plot figure={figure} label={`${name} over time`} />
    </>
  );
}
