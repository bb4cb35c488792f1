import { Group, Text, useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useMemo } from "react";
import type { ArtefactTable } from "../../logic/api";
import { formatKb, type Surface, surfaceOf } from "../../logic/iozone";
import { type Scheme, strokeOf } from "../../logic/palette";
import { buildCellFigure } from "../../plot/cells";
import { buildCurveFigure } from "../../plot/curves";
import { Plot } from "../../plot/Plot";

const MARGINS = { left: 70, right: 20, top: 8, bottom: 26 };
const CELL_MARGINS = { left: 70, right: 84, top: 8, bottom: 26 };
const HEIGHT = 210;
const ROW_PX = 22;
/** More curves cannot be told apart. */
const MAX_CURVES = 10;

/** Throughput of one test: curves by record length, and a surface where there are several file sizes. */
export function IozonePicture({ table }: { readonly table: ArtefactTable }) {
  const { ref, width } = useElementSize();
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const surface = useMemo(() => surfaceOf(table, table.order), [table]);
  const column = table.columns.find(({ key }) => key === table.order);
  if (surface === null || column === undefined || surface.records_kb.length * surface.sizes_kb.length < 2) {
    return null;
  }
  return (
    <div ref={ref}>
      <Text fz="sm" mb={4}>
        {`Test “${column.title}”, ${column.unit}. Choose another test with Rank by.`}
      </Text>
      {width > 0 && <Pictures surface={surface} unit={column.unit} title={column.title} scheme={scheme} width={width} />}
    </div>
  );
}

interface PicturesProps {
  readonly surface: Surface;
  readonly unit: string;
  readonly title: string;
  readonly scheme: Scheme;
  readonly width: number;
}

function Pictures({ surface, unit, title, scheme, width }: PicturesProps) {
  const { sizes_kb, records_kb, values } = surface;
  const columns = useMemo(() => records_kb.map(formatKb), [records_kb]);
  const rows = useMemo(() => sizes_kb.map(formatKb), [sizes_kb]);
  const curves = useMemo(
    () =>
      buildCurveFigure({
        columns,
        lines: values.slice(-MAX_CURVES).map((line, index) => ({ values: line, stroke: strokeOf(index, scheme) })),
        unit,
        scheme,
        width,
        height: HEIGHT,
        margins: MARGINS,
      }),
    [columns, values, unit, scheme, width],
  );
  const cells = useMemo(
    () =>
      buildCellFigure({
        columns,
        rows,
        values,
        unit,
        scheme,
        width,
        height: rows.length * ROW_PX + CELL_MARGINS.top + CELL_MARGINS.bottom,
        margins: CELL_MARGINS,
      }),
    [columns, rows, values, unit, scheme, width],
  );
  return (
    <>
      <Group gap="md" mb={2}>
        <Text fz="xs" className="soft">
          {`By record length, in ${curves.axisUnit}:`}
        </Text>
        {rows.slice(-MAX_CURVES).map((row, index) => (
          <Text key={row} fz="xs" component="span">
            <span
              style={{
                display: "inline-block",
                width: 14,
                height: 3,
                marginRight: 5,
                verticalAlign: 3,
                background: strokeOf(index, scheme).color,
              }}
              aria-hidden
            />
            {`file of ${row}`}
          </Text>
        ))}
      </Group>
      <Plot figure={curves} label={`Throughput of ${title} by record length`} />
      {rows.length > 1 && (
        <>
          <Text fz="xs" className="soft" mt="xs">
            {`File size (rows) by record length (columns), in ${cells.axisUnit}`}
          </Text>
          <Plot figure={cells} label={`Throughput of ${title} by file size and record length`} />
        </>
      )}
    </>
  );
}
