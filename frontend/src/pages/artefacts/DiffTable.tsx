import { Button, Group, Select, Table, Text, TextInput } from "@mantine/core";
import { IconDownload, IconSearch } from "@tabler/icons-react";
import { artefactDiffCsvAddress, type DiffQuery } from "../../api/artefact_diff";
import { ScrollCard } from "../../components/ScrollCard";
import { StateView } from "../../components/StateView";
import type { TableDiff, TableDiffRow } from "../../logic/api";
import { barOf, formatDifference, formatRatio, groupChoices, keyPlaces, NORMALISATIONS, toneOf } from "../../logic/artefact_diff";
import { formatCount, formatDigits, formatShare } from "../../logic/number";
import type { ArtefactDiffView } from "../../state/artefact_diff";
import { counted } from "../../logic/counted";

const TABLE = {
  compare: "Compare",
  groupBy: "Group by",
  everyRow: "every row",
  normalisation: "Totals",
  per_second: "per second",
  share: "share of each side",
  raw: "as printed",
  search: "Filter rows",
  csv: "CSV",
  label: "Rows by difference",
  difference: "Difference",
  ratio: "Ratio",
  beforeShare: "Share before",
  afterShare: "Share after",
  total: "Total",
  appeared: "new",
  appearedHelp: "not listed before",
  disappeared: "gone",
  disappearedHelp: "no longer listed",
  more: "more",
  less: "less",
  none: "No row matches",
  noneNext: "Clear the search to see every row.",
  summary: (rows: number, appeared: string, disappeared: string) =>
    `${counted(rows, "row")}, the largest difference first; ${appeared} not listed before, ${disappeared} no longer listed.`,
  next: "Next rows",
  previous: "Previous rows",
  range: (first: string, last: string, all: number) => `${first} to ${last} of ${counted(all, "row")}`,
  normalised: (how: string) => `Compared ${how}.`,
};

export const PAGE_ROWS = 100;

interface DiffTableProps {
  readonly table: TableDiff;
  readonly query: DiffQuery;
  readonly view: ArtefactDiffView;
  readonly onView: (change: Partial<ArtefactDiffView>) => void;
}

/** Rows by key, the largest difference first: both values, bars to the right for more and to the left for less. */
export function DiffTable({ table, query, view, onView }: DiffTableProps) {
  return (
    <section className="card diff-part">
      <Controls table={table} query={query} view={view} onView={onView} />
      <Text fz="sm" className="soft" mb="xs" role="status">
        {`${counted(table.n_rows, "row")}, the largest difference first; ${formatCount(table.n_appeared)} not listed before, ${formatCount(table.n_disappeared)} no longer listed.`}
      </Text>
      {table.rows.length === 0 ? (
        <StateView isCompact state={{ kind: "empty", title: "No row matches", next: "Clear the search to see every row." }} />
      ) : (
        <Rows table={table} />
      )}
      <Pages table={table} page={view.page} onView={onView} />
    </section>
  );
}

function Controls({ table, query, view, onView }: DiffTableProps) {
  const groups = groupChoices(table.all_key_names);
  const known = NORMALISATIONS.filter((each) => table.normalisations.includes(each));
  return (
    <Group gap="xs" mb="xs" align="flex-end">
      {table.columns.length > 1 && (
        <Select
          size="xs"
          w={190}
          label="Compare"
          allowDeselect={false}
          data={table.columns.map(({ key, title, unit }) => ({ value: key, label: unit === "" ? title : `${title} (${unit})` }))}
          value={table.column}
          onChange={(column) => {
            onView({ column, normalisation: null });
          }}
        />
      )}
      {groups.length > 0 && (
        <Select
          size="xs"
          w={150}
          label="Group by"
          allowDeselect={false}
          data={groups.map((names) => ({
            value: JSON.stringify(names),
            label: names.length === 0 ? "every row" : names.join(" + "),
          }))}
          value={JSON.stringify(view.group)}
          onChange={(chosen) => {
            onView({ group: groups.find((names) => JSON.stringify(names) === chosen) ?? [] });
          }}
        />
      )}
      {known.length > 1 && (
        <Select
          size="xs"
          w={170}
          label="Totals"
          allowDeselect={false}
          data={known.map((each) => ({ value: each, label: TABLE[each] }))}
          value={table.normalisation}
          onChange={(chosen) => {
            // The column is named too, or another one might be chosen for it.
            onView({ normalisation: known.find((each) => each === chosen) ?? null, column: table.column });
          }}
        />
      )}
      <TextInput
        size="xs"
        w={200}
        label="Filter rows"
        leftSection={<IconSearch size={14} aria-hidden />}
        maxLength={200}
        value={view.search}
        onChange={(event) => {
          onView({ search: event.currentTarget.value });
        }}
      />
      <Button
        ml="auto"
        size="xs"
        component="a"
        href={artefactDiffCsvAddress(query)}
        variant="default"
        leftSection={<IconDownload size={14} aria-hidden />}
        download
      >
        CSV
      </Button>
    </Group>
  );
}

function Rows({ table }: { readonly table: TableDiff }) {
  const places = keyPlaces(table);
  const hasShares =
    table.normalisation !== "share" && table.rows.some((row) => row.before_share !== null || row.after_share !== null);
  const unit = table.unit === "" ? "" : ` (${table.unit})`;
  return (
    <ScrollCard label="Rows by difference">
      <Table aria-label="Rows by difference" className="diff-table" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            {places.map((place) => (
              <Table.Th key={place}>{table.key_names[place]}</Table.Th>
            ))}
            <Table.Th className="number">
              Before
              <span className="soft">{unit}</span>
            </Table.Th>
            <Table.Th className="number">
              After
              <span className="soft">{unit}</span>
            </Table.Th>
            <Table.Th className="number" aria-sort="descending">
              Difference
              <span className="soft">{unit}</span> ↓
            </Table.Th>
            <Table.Th className="diff-bar-head">
              <span className="diff-less">◀ less</span> <span className="diff-more">more ▶</span>
            </Table.Th>
            <Table.Th className="number">Ratio</Table.Th>
            {hasShares && <Table.Th className="number">Share before</Table.Th>}
            {hasShares && <Table.Th className="number">Share after</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {table.rows.map((row, at) => (
            <Row key={`${String(at)} ${row.key.join("\n")}`} row={row} rows={table.rows} places={places} hasShares={hasShares} />
          ))}
        </Table.Tbody>
        {table.before_total !== null && table.after_total !== null && table.normalisation !== "share" && (
          <Table.Tfoot>
            <Table.Tr>
              <Table.Th colSpan={places.length}>Total</Table.Th>
              <Table.Th className="number">{formatDigits(table.before_total)}</Table.Th>
              <Table.Th className="number">{formatDigits(table.after_total)}</Table.Th>
              <Table.Th className="number">{formatDifference(table.after_total - table.before_total)}</Table.Th>
              <Table.Td />
              <Table.Th className="number">{formatRatio(table.ratio)}</Table.Th>
              {hasShares && <Table.Td colSpan={2} />}
            </Table.Tr>
          </Table.Tfoot>
        )}
      </Table>
    </ScrollCard>
  );
}

interface RowProps {
  readonly row: TableDiffRow;
  readonly rows: readonly TableDiffRow[];
  readonly places: readonly number[];
  readonly hasShares: boolean;
}

function Row({ row, rows, places, hasShares }: RowProps) {
  const tone = toneOf(row);
  return (
    <Table.Tr>
      {places.map((place) => (
        <Table.Td key={place} className="mono diff-key">
          {row.key[place] === "" ? <span className="soft">–</span> : row.key[place]}
        </Table.Td>
      ))}
      <Table.Td className="number">{formatDigits(row.before_value)}</Table.Td>
      <Table.Td className="number">{formatDigits(row.after_value)}</Table.Td>
      <Table.Td className={`number diff-${tone}`}>{formatDifference(row.difference)}</Table.Td>
      <Table.Td className="diff-bar" aria-hidden>
        <i className={`diff-fill-${tone}`} style={{ width: `${String(barOf(row, rows) / 2)}%` }} />
      </Table.Td>
      <Table.Td className="number">
        {row.state === "both" ? (
          formatRatio(row.ratio)
        ) : (
          <span title={row.state === "appeared" ? "not listed before" : "no longer listed"}>
            {row.state === "appeared" ? "new" : "gone"}
          </span>
        )}
      </Table.Td>
      {hasShares && <Table.Td className="number">{row.before_share === null ? "–" : formatShare(row.before_share)}</Table.Td>}
      {hasShares && <Table.Td className="number">{row.after_share === null ? "–" : formatShare(row.after_share)}</Table.Td>}
    </Table.Tr>
  );
}

interface PagesProps {
  readonly table: TableDiff;
  readonly page: number;
  readonly onView: (change: Partial<ArtefactDiffView>) => void;
}

function Pages({ table, page, onView }: PagesProps) {
  const first = page * PAGE_ROWS;
  const last = first + table.rows.length;
  if (page === 0 && table.n_rows <= PAGE_ROWS) {
    return null;
  }
  return (
    <Group gap="sm" mt="xs">
      <Text fz="sm" className="soft">
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
        Next rows
      </Button>
    </Group>
  );
}
