import { Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { artefactTableQuery } from "../../api/artefacts";
import { ScrollCard } from "../../components/ScrollCard";
import type { ArtefactPartInfo } from "../../logic/api";
import { type ErrorCell, type ErrorCount, type ErrorGrid, errorsByCpu, errorsByModule, ERROR_PLACE } from "../../logic/drawing";
import { formatCount } from "../../logic/number";

const errorsCpu = (cpu: string) => `CPU ${cpu}`;

const errorsBank = (bank: string) => `bank ${bank}`;

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
  return (
    <>
      {byModule !== null && (
        <>
          <Text fz="sm">
            Corrected / uncorrected errors by memory module:{" "}
            {isMemory && nReports > 1 && "As in the last report: the counters run since mcelog was started."}
          </Text>
          <Grid
            grid={byModule}
            label="Corrected / uncorrected errors by memory module:"
            row={(place) => {
              const [socket = "", channel = ""] = place.split(" ");
              return [socket === "" ? "" : `socket ${socket}`, channel === "" ? "" : `channel ${channel}`]
                .filter(Boolean)
                .join(", ");
            }}
            column={(dimm) => (dimm === "" ? "" : `DIMM ${dimm}`)}
          />
        </>
      )}
      {byCpu !== null && (
        <>
          <Text fz="sm">Corrected / uncorrected errors by CPU and memory bank of the processor:</Text>
          <Grid
            grid={byCpu}
            label="Corrected / uncorrected errors by CPU and memory bank of the processor:"
            row={errorsCpu}
            column={errorsBank}
          />
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
  return (
    <ScrollCard label={label}>
      <Table className="error-matrix" aria-label={label} withColumnBorders>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Place</Table.Th>
            {grid.columns.map((place) => (
              <Table.Th key={place} className="number">
                {column(place) === "" ? "not given" : column(place)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {grid.rows.map((place, at) => (
            <Table.Tr key={place}>
              <Table.Th scope="row">{row(place) === "" ? "not given" : row(place)}</Table.Th>
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
    <Table.Td data-errors={errors} title={`${textOf(corrected)} corrected, ${textOf(uncorrected)} uncorrected`}>
      {textOf(corrected)} / {textOf(uncorrected)}
    </Table.Td>
  );
}
