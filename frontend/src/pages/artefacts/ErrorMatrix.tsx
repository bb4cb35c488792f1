import { Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { artefactTableQuery } from "../../api/artefacts";
import { ScrollCard } from "../../components/ScrollCard";
import type { ArtefactPartInfo } from "../../logic/api";
import { type ErrorCell, type ErrorCount, type ErrorGrid, errorsByCpu, errorsByModule, ERROR_PLACE } from "../../logic/drawing";
import { formatCount } from "../../logic/number";
import { words } from "../../words";

const MAX_PLACES = 1000;

interface ErrorMatrixProps {
  readonly artefact: number;
  readonly part: ArtefactPartInfo;
  readonly nReports: number;
}

/** Errors that the hardware reported, by where they happened: corrected and uncorrected ones by CPU and bank, and by memory module. */
export function ErrorMatrix({ artefact, part, nReports }: ErrorMatrixProps) {
  const isMemory = part.stat === "mcelog_memory";
  const found = useQuery(
    artefactTableQuery({
      id: artefact,
      part: part.position,
      order: "",
      group: isMemory ? [] : ERROR_PLACE,
      search: "",
      // Counters add up over reports already.
      report: isMemory && nReports > 1 ? nReports - 1 : null,
      offset: 0,
      limit: MAX_PLACES,
    }),
  );
  if (found.data === undefined) {
    return null;
  }
  const byCpu = isMemory ? null : errorsByCpu(found.data);
  const byModule = errorsByModule(found.data);
  const says = words.drawings.errors;
  return (
    <>
      {byModule !== null && (
        <>
          <Text fz="sm">
            {says.byModule} {isMemory && nReports > 1 && says.lastReport}
          </Text>
          <Grid
            grid={byModule}
            label={says.byModule}
            row={(place) => {
              const [socket = "", channel = ""] = place.split(" ");
              return says.channel(socket, channel);
            }}
            column={(dimm) => (dimm === "" ? "" : says.dimm(dimm))}
          />
        </>
      )}
      {byCpu !== null && (
        <>
          <Text fz="sm">{says.byCpu}</Text>
          <Grid grid={byCpu} label={says.byCpu} row={says.cpu} column={says.bank} />
        </>
      )}
    </>
  );
}

interface GridProps {
  readonly grid: ErrorGrid;
  readonly label: string;
  readonly row: (place: string) => string;
  readonly column: (place: string) => string;
}

function Grid({ grid, label, row, column }: GridProps) {
  const says = words.drawings.errors;
  return (
    <ScrollCard label={label}>
      <Table className="error-matrix" aria-label={label} withColumnBorders>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{says.place}</Table.Th>
            {grid.columns.map((place) => (
              <Table.Th key={place} className="number">
                {column(place) === "" ? says.unknown : column(place)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {grid.rows.map((place, at) => (
            <Table.Tr key={place}>
              <Table.Th scope="row">{row(place) === "" ? says.unknown : row(place)}</Table.Th>
              {grid.columns.map((other, number) => (
                <Cell key={other} cell={grid.cells[at]?.[number] ?? null} />
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollCard>
  );
}

function textOf(count: ErrorCount): string {
  return count === null ? "–" : formatCount(count);
}

function Cell({ cell }: { readonly cell: ErrorCell | null }) {
  if (cell === null) {
    return <Table.Td />;
  }
  const { corrected, uncorrected } = cell;
  const errors = (uncorrected ?? 0) > 0 ? "uncorrected" : (corrected ?? 0) > 0 ? "corrected" : "none";
  return (
    <Table.Td data-errors={errors} title={words.drawings.errors.cell(textOf(corrected), textOf(uncorrected))}>
      {textOf(corrected)} / {textOf(uncorrected)}
    </Table.Td>
  );
}
