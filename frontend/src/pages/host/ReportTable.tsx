import { Badge, Tooltip, UnstyledButton } from "@mantine/core";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import type { NormalValues, ProcessField, ProcessReport, ReportedProcess } from "../../logic/api";
import type { Scheme } from "../../logic/palette";
import { formatQuantity, formatQuantityRange, processTitle, quantityTitle } from "../../logic/process";
import {
  isAboveNormal,
  nextSort,
  normalOf,
  normalsByName,
  type ReportColumn,
  type ReportSort,
  sortRows,
} from "../../logic/process_report";
import { StateBar } from "./StateBar";
import { useVisibleRows } from "./useVisibleRows";
import { counted } from "../../logic/counted";

// All rows have one height, so that those on the screen are found without measuring.
const ROW_HEIGHT = 26;

interface ReportTableProps {
  readonly report: ProcessReport;
  /** The name of the baseline whose values are beside these. */
  readonly baseline: string;
  readonly isStale: boolean;
  readonly scheme: Scheme;
  readonly onShow: (command: string, pid: number | null) => void;
}

/** The processes of one report, each value beside what is normal for the command. */
export function ReportTable(props: ReportTableProps) {
  const { report, isStale } = props;
  const { fields, states } = report;
  const [sort, setSort] = useState<ReportSort>({ by: 0, isDescending: true });
  const rows = useMemo(() => sortRows(report.rows, sort), [report.rows, sort]);
  const normals = useMemo(() => normalsByName(report), [report]);
  const { scroller, first, last } = useVisibleRows(rows.length, ROW_HEIGHT);
  const onSort = (by: ReportColumn): void => {
    setSort(nextSort(sort, by));
  };
  return (
    <div
      className="report-scroller"
      ref={scroller}
      role="region"
      aria-label="Processes at this instant"
      tabIndex={0}
      data-stale={isStale}
    >
      <table className="process-table report-table" aria-label="Processes at this instant" aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            <Heading title="Command" by="command" sort={sort} onSort={onSort} />
            {states.length > 0 && <th scope="col">States</th>}
            {fields.map((field, place) => (
              <Heading key={field.key} title={quantityTitle(field)} help={field.help} by={place} sort={sort} onSort={onSort} />
            ))}
            <Heading title="Owner" by="user" sort={sort} onSort={onSort} />
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr aria-hidden style={{ height: first * ROW_HEIGHT }} />}
          {rows.slice(first, last).map((row, index) => (
            <ReportRow
              key={row.instance}
              {...props}
              row={row}
              number={first + index + 2}
              normal={normalOf(row, normals, report.normal_of)}
            />
          ))}
          {last < rows.length && <tr aria-hidden style={{ height: (rows.length - last) * ROW_HEIGHT }} />}
        </tbody>
      </table>
    </div>
  );
}

interface HeadingProps {
  readonly title: string;
  readonly help?: string;
  readonly by: ReportColumn;
  readonly sort: ReportSort;
  readonly onSort: (by: ReportColumn) => void;
}

function Heading({ title, help = "", by, sort, onSort }: HeadingProps) {
  const isSorted = sort.by === by;
  const Arrow = sort.isDescending ? IconArrowDown : IconArrowUp;
  return (
    <th
      scope="col"
      className={typeof by === "number" ? "number" : undefined}
      aria-sort={isSorted ? (sort.isDescending ? "descending" : "ascending") : "none"}
    >
      <Tooltip label={help} multiline maw={320} disabled={help === ""}>
        <UnstyledButton
          className="process-sort"
          onClick={() => {
            onSort(by);
          }}
        >
          {title}
          {isSorted && <Arrow size={13} aria-hidden />}
        </UnstyledButton>
      </Tooltip>
    </th>
  );
}

interface RowProps extends ReportTableProps {
  readonly row: ReportedProcess;
  readonly number: number;
  readonly normal: NormalValues | null;
}

function ReportRow({ report, baseline, row, number, normal, scheme, onShow }: RowProps) {
  const { command, pid } = row;
  return (
    <tr aria-rowindex={number} style={{ height: ROW_HEIGHT }} data-new={normal?.is_new === true}>
      <th scope="row">
        {command === null ? (
          row.instance
        ) : (
          <button
            type="button"
            className="text-button process-name"
            onClick={() => {
              onShow(command, pid);
            }}
          >
            {processTitle({ command, pid })}
          </button>
        )}
        {normal?.is_new === true && (
          <Badge size="xs" ml={6} color="orange" variant="light" className="report-new" title={`Never in baseline ${baseline}`}>
            new
          </Badge>
        )}
      </th>
      {report.states.length > 0 && (
        <td>
          <StateBar states={report.states.map(({ quantity }) => quantity)} values={row.states} scheme={scheme} />
        </td>
      )}
      {report.fields.map((field, place) => (
        <ValueCell key={field.key} field={field} value={row.values[place] ?? null} normal={normal} place={place} />
      ))}
      <td>{row.user ?? <span className="soft">–</span>}</td>
    </tr>
  );
}

interface ValueCellProps {
  readonly field: ProcessField;
  readonly value: number | null;
  readonly normal: NormalValues | null;
  readonly place: number;
}

/** A value, and p50 to p95 of the command in the baseline. */
function ValueCell({ field, value, normal, place }: ValueCellProps) {
  const band = normal?.bands[place] ?? null;
  const { unit } = field;
  if (normal === null || band === null || value === null) {
    return <td className="number">{formatQuantity(value, unit)}</td>;
  }
  const isAbove = isAboveNormal(normal, place);
  const range = `in the baseline p50 ${formatQuantity(band.p50, unit)}, p95 ${formatQuantity(band.p95, unit)}`;
  if (normal.n_processes > 1) {
    // The range is that of the whole command: beside one of its processes it would be compared with the wrong number.
    const total = formatQuantity(normal.totals[place] ?? null, unit);
    const whole = `${counted(normal.n_processes, "process", "processes")} of ${normal.name} together: ${total}; ${range}`;
    return (
      <td className="number" title={whole}>
        {formatQuantity(value, unit)}
      </td>
    );
  }
  return (
    <td className="number" title={`${normal.name}: ${formatQuantity(value, unit)}; ${range}`} data-above={isAbove}>
      <b>{formatQuantity(value, unit)}</b>
      {isAbove && (
        <span role="img" aria-label="above normal">
          {" "}
          ▲
        </span>
      )}{" "}
      <span className="report-normal">{formatQuantityRange(band.p50, band.p95, unit)}</span>
    </td>
  );
}
