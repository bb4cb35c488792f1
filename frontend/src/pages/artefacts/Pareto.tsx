import { Text, useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useMemo } from "react";
import type { ArtefactTable } from "../../logic/api";
import { orderPlace, paretoRows } from "../../logic/artefact";
import { formatCount } from "../../logic/number";
import { buildBarFigure } from "../../plot/bars";
import { Plot } from "../../plot/Plot";

const MAX_BARS = 40;
const HEIGHT = 170;
const MIN_WIDTH = 200;
const MARGINS = { left: 56, right: 48, top: 8, bottom: 22 };

/** The first rows of a table as bars, and how much of the whole they and those before them make. */
export function Pareto({ table }: { readonly table: ArtefactTable }) {
  const { ref, width } = useElementSize();
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const column = table.columns[orderPlace(table)];
  const figure = useMemo(() => {
    const { values, cumulative, labels } = paretoRows(table, MAX_BARS);
    const drawn = buildBarFigure({
      values,
      labels,
      cumulative,
      unit: column?.unit ?? "",
      scheme,
      width: width === 0 ? MIN_WIDTH : width,
      height: HEIGHT,
      margins: MARGINS,
    });
    return { ...drawn, nBars: values.length };
  }, [table, column, scheme, width]);
  return (
    <div ref={ref}>
      <Text fz="xs" className="soft">
        {`First ${formatCount(figure.nBars)} rows by rank: ${column?.title ?? ""}${figure.axisUnit === "" ? "" : ` in ${figure.axisUnit}`} (bars), cumulative share (line)`}
      </Text>
      {width > 0 && <Plot figure={figure} label={`Pareto picture of ${column?.title ?? ""}; the table below has its numbers`} />}
    </div>
  );
}
