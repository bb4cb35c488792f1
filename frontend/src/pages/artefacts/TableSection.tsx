import { Button, Group, Select, Table, Text, TextInput } from "@mantine/core";
import { IconDownload, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { artefactCsvAddress, artefactTableQuery } from "../../api/artefacts";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { useSettled } from "../../components/useSettled";
import type { ArtefactTable, ArtefactTableColumn, ArtefactTableRow } from "../../logic/api";
import {
  barPercent,
  describeLength,
  formatCell,
  formatIntervalShare,
  formatShareCell,
  groupings,
  isErrors,
  isRanked,
  largestOf,
  leadOf,
  orderPlace,
  readable,
  rowsOfShare,
  shareOfInterval,
  shownKeys,
} from "../../logic/artefact";
import { hasIntervals, isErrorStat } from "../../logic/drawing";
import { formatCount } from "../../logic/number";
import { toEpochMs } from "../../logic/time";
import { formatInstant, type Zone } from "../../logic/zone";
import type { SectionProps } from "./ArtefactPage";
import { ErrorMatrix } from "./ErrorMatrix";
import { IntervalPicture } from "./IntervalPicture";
import { IozonePicture } from "./IozonePicture";
import { Pareto } from "./Pareto";
import { counted } from "../../logic/counted";

const PAGE_ROWS = 100;
/** Fewer rows are read faster than a picture of them. */
const MIN_PICTURE = 4;
const MOST = 0.8;

/** A table: the costliest rows first, each with its share of the whole and of the watched time. */
export function TableSection({ artefact, part, zone, view, onView }: SectionProps) {
  const search = useSettled(view.search);
  const found = useQuery(
    artefactTableQuery({
      id: artefact.id,
      part: part.position,
      order: view.order,
      group: view.group,
      search,
      report: view.report,
      offset: view.page * PAGE_ROWS,
      limit: PAGE_ROWS,
    }),
  );
  const table = found.data;
  if (table === undefined) {
    return <PendingView query={found} what={part.title} isCompact />;
  }
  const ranked = isRanked(part.stat) && table.rows.some(({ share }) => share !== null);
  const isFirst = view.page === 0 && view.search === "";
  return (
    <>
      {ranked && isFirst && <LeadText table={table} duration_s={artefact.duration_s} />}
      <Controls
        table={table}
        artefactId={artefact.id}
        position={part.position}
        nRows={part.n_rows}
        zone={zone}
        view={view}
        onView={onView}
      />
      {ranked && isFirst && table.rows.length >= MIN_PICTURE && <Pareto table={table} />}
      {part.stat.startsWith("iozone") && <IozonePicture table={table} />}
      {isErrorStat(part.stat) && <ErrorMatrix artefact={artefact.id} part={part} nReports={table.reports.length} />}
      {hasIntervals(part.stat, table.reports) && view.report === null && (
        <IntervalPicture artefact={artefact.id} position={part.position} column={table.order} zone={zone} />
      )}
      {table.rows.length === 0 ? (
        <StateView isCompact state={{ kind: "empty", title: "No rows match", next: "Clear the search to see all rows." }} />
      ) : (
        <Rows
          table={table}
          first={view.page * PAGE_ROWS}
          isRanked={ranked}
          duration_s={artefact.duration_s}
          label={part.title}
          onView={onView}
        />
      )}
      <TablePages table={table} page={view.page} onView={onView} />
    </>
  );
}

interface LeadTextProps {
  readonly table: ArtefactTable;
  readonly duration_s: number | null;
}

/** The culprit in a sentence. */
function LeadText({ table, duration_s }: LeadTextProps) {
  const lead = leadOf(table, duration_s);
  const column = table.columns[orderPlace(table)];
  if (lead === null || column === undefined) {
    return null;
  }
  const n = rowsOfShare(table.rows, MOST);
  return (
    <Text fz="sm" mb="xs">
      <b className="artefact-name">{lead.key === "" ? "The only row" : lead.key}</b>
      {": "}
      {lead.total === "" ? `${lead.share} of the whole` : `${lead.value} (${column.title}), ${lead.share} of ${lead.total}`}
      {lead.interval !== "" && `; ${lead.interval} of the ${lead.length} watched`}
      {"."} {n !== null && n > 1 && n < table.n_rows && `${String(n)} of ${formatCount(table.n_rows)} rows make 80 %.`}
    </Text>
  );
}

interface ControlsProps extends Pick<SectionProps, "view" | "onView"> {
  readonly table: ArtefactTable;
  readonly artefactId: number;
  readonly position: number;
  readonly nRows: number;
  readonly zone: Zone;
}

function Controls({ table, artefactId, position, nRows, zone, view, onView }: ControlsProps) {
  const groups = groupings(table.all_key_names);
  return (
    <Group gap="xs" mb="xs" align="flex-end">
      {table.columns.length > 1 && (
        <Select
          size="xs"
          w={190}
          label="Rank by"
          allowDeselect={false}
          data={table.columns.map(({ key, title, unit }) => ({ value: key, label: unit === "" ? title : `${title} (${unit})` }))}
          value={table.order}
          onChange={(order) => {
            onView({ order, page: 0 });
          }}
        />
      )}
      {groups.length > 0 && (
        <Select
          size="xs"
          w={190}
          label="Group by"
          allowDeselect={false}
          data={groups.map((names) => ({
            value: JSON.stringify(names),
            label: names.length === 0 ? "every row" : names.join(" + "),
          }))}
          value={JSON.stringify(view.group)}
          onChange={(text) => {
            onView({ group: groups.find((names) => JSON.stringify(names) === text) ?? [], page: 0 });
          }}
        />
      )}
      {table.reports.length > 1 && (
        <Select
          size="xs"
          w={210}
          label="Report"
          allowDeselect={false}
          searchable
          limit={200}
          data={[
            { value: "", label: `all ${String(table.reports.length)} reports, summed` },
            ...table.reports.map((at, number) => ({
              value: String(number),
              label: `${String(number + 1)}${at === null ? "" : ` · ${formatInstant(zone, toEpochMs(at))}`}`,
            })),
          ]}
          value={view.report === null ? "" : String(view.report)}
          onChange={(text) => {
            onView({ report: text === null || text === "" ? null : Number(text), page: 0 });
          }}
        />
      )}
      {(nRows > 8 || view.search !== "") && (
        <TextInput
          size="xs"
          w={220}
          label="Filter"
          leftSection={<IconSearch size={14} />}
          maxLength={200}
          value={view.search}
          onChange={(event) => {
            onView({ search: event.currentTarget.value, page: 0 });
          }}
        />
      )}
      <Button
        ml="auto"
        size="xs"
        component="a"
        href={artefactCsvAddress(artefactId, position)}
        variant="default"
        leftSection={<IconDownload size={14} aria-hidden />}
        download
      >
        CSV
      </Button>
    </Group>
  );
}

interface RowsProps extends Pick<SectionProps, "onView"> {
  readonly table: ArtefactTable;
  /** The rank of the first row. */
  readonly first: number;
  readonly isRanked: boolean;
  readonly duration_s: number | null;
  readonly label: string;
}

function Rows({ table, first, isRanked: hasShares, duration_s, label, onView }: RowsProps) {
  const at = orderPlace(table);
  const ordering = table.columns[at];
  const keys = shownKeys(table.key_names, table.rows);
  const largest = largestOf(table.rows, at);
  const hasInterval = hasShares && ordering?.is_additive === true && shareOfInterval(0, ordering.unit, duration_s) !== null;
  const isGrouped = table.rows.some(({ n_rows }) => n_rows > 1);
  return (
    <ScrollCard label={label}>
      <Table aria-label={label} className="artefact-table" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th className="number">#</Table.Th>
            {keys.map((place) => (
              <Table.Th key={place}>{table.key_names[place]}</Table.Th>
            ))}
            {table.columns.map((column) => (
              <ColumnHead
                key={column.key}
                column={column}
                isOrder={column.key === table.order}
                onOrder={() => {
                  onView({ order: column.key, page: 0 });
                }}
              />
            ))}
            {hasShares && <Table.Th className="number">Share</Table.Th>}
            {hasShares && <Table.Th className="number">Cumulative</Table.Th>}
            {hasInterval && <Table.Th className="number">{`Of ${describeLength(duration_s)}`}</Table.Th>}
            {isGrouped && <Table.Th className="number">Rows</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {table.rows.map((row, number) => (
            <Table.Tr key={`${String(number)} ${row.key.join("\n")}`} {...(row.is_total ? { className: "artefact-sum" } : {})}>
              <Table.Td className="number soft">{formatCount(first + number + 1)}</Table.Td>
              {keys.map((place) => (
                <Table.Td key={place} className="artefact-key mono">
                  {row.key[place] === "" ? <span className="soft">–</span> : row.key[place]}
                </Table.Td>
              ))}
              {table.columns.map((column, place) => (
                <Cell key={column.key} column={column} row={row} place={place} isOrder={place === at} largest={largest} />
              ))}
              {hasShares && <Table.Td className="number">{row.share === null ? "–" : formatShareCell(row.share)}</Table.Td>}
              {hasShares && (
                <Table.Td className="number">{row.cumulative === null ? "–" : formatShareCell(row.cumulative)}</Table.Td>
              )}
              {hasInterval && <Table.Td className="number">{intervalText(row, at, ordering.unit, duration_s)}</Table.Td>}
              {isGrouped && <Table.Td className="number">{formatCount(row.n_rows)}</Table.Td>}
            </Table.Tr>
          ))}
        </Table.Tbody>
        {hasShares && table.total !== null && ordering !== undefined && (
          <Table.Tfoot>
            <Table.Tr>
              <Table.Th />
              <Table.Th colSpan={keys.length + table.columns.length}>
                {`${/^total/i.test(ordering.title) ? "Sum of" : "Total"} ${ordering.title}: ${readable(table.total, ordering.unit)}`}
              </Table.Th>
              <Table.Th className="number">100 %</Table.Th>
              <Table.Th />
              {hasInterval && (
                <Table.Th className="number">
                  {formatIntervalShare(shareOfInterval(table.total, ordering.unit, duration_s) ?? 0)}
                </Table.Th>
              )}
              {isGrouped && <Table.Th />}
            </Table.Tr>
          </Table.Tfoot>
        )}
      </Table>
    </ScrollCard>
  );
}

function intervalText(row: ArtefactTableRow, at: number, unit: string, duration_s: number | null): string {
  const share = shareOfInterval(row.values[at] ?? null, unit, duration_s);
  return share === null ? "–" : formatIntervalShare(share);
}

interface ColumnHeadProps {
  readonly column: ArtefactTableColumn;
  readonly isOrder: boolean;
  readonly onOrder: () => void;
}

function ColumnHead({ column, isOrder, onOrder }: ColumnHeadProps) {
  return (
    <Table.Th className="number" aria-sort={isOrder ? "descending" : "none"} title={column.help}>
      <button type="button" className="text-button" onClick={onOrder}>
        {column.title}
        {column.unit !== "" && <span className="soft"> ({column.unit})</span>}
        {isOrder && " ↓"}
      </button>
    </Table.Th>
  );
}

interface CellProps {
  readonly column: ArtefactTableColumn;
  readonly row: ArtefactTableRow;
  readonly place: number;
  readonly isOrder: boolean;
  readonly largest: number;
}

function Cell({ column, row, place, isOrder, largest }: CellProps) {
  const value = row.values[place] ?? null;
  const text = formatCell(value, column);
  if (isOrder && !row.is_total) {
    return (
      <Table.Td className="number artefact-bar">
        <i style={{ width: `${String(barPercent(value, largest))}%` }} aria-hidden />
        <span>{text}</span>
      </Table.Td>
    );
  }
  return (
    <Table.Td className={isErrors(column) && value !== null && value > 0 ? "number artefact-bad" : "number"}>{text}</Table.Td>
  );
}

interface TablePagesProps extends Pick<SectionProps, "onView"> {
  readonly table: ArtefactTable;
  readonly page: number;
}

function TablePages({ table, page, onView }: TablePagesProps) {
  const first = page * PAGE_ROWS;
  const last = first + table.rows.length;
  if (page === 0 && table.n_rows <= PAGE_ROWS) {
    return null;
  }
  return (
    <Group gap="sm" mt="xs">
      <Text fz="sm" className="soft" role="status">
        {`${formatCount(first + 1)} to ${formatCount(last)} of ${counted(table.n_rows, "row")}`}
      </Text>
      <Button
        size="compact-sm"
        variant="default"
        disabled={page === 0}
        onClick={() => {
          onView({ page: page - 1 });
        }}
      >
        Previous rows
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        disabled={last >= table.n_rows}
        onClick={() => {
          onView({ page: page + 1 });
        }}
      >
        More rows
      </Button>
    </Group>
  );
}
