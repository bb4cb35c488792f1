import { ActionIcon, Tooltip, UnstyledButton } from "@mantine/core";
import { IconArrowDown, IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { Instant } from "../../components/Instant";
import type { ListedProcess, ProcessField } from "../../logic/api";
import { formatValue } from "../../logic/number";
import { formatQuantity, processTitle, quantityTitle, type TableRow } from "../../logic/process";
import { fromApi, wholeSecond } from "../../logic/time";
import { formatClock, formatInstant, type Zone } from "../../logic/zone";
import { useVisibleRows } from "./useVisibleRows";

// All rows have one height, so that those on the screen are found without measuring.
const ROW_HEIGHT = 30;

interface ProcessTableProps {
  readonly fields: readonly ProcessField[];
  /** Those of the processes under a command, which another stat tells. */
  readonly childFields: readonly ProcessField[];
  readonly rows: readonly TableRow[];
  readonly sort: string | null;
  readonly open: string | null;
  readonly isStale: boolean;
  readonly zone: Zone;
  /** Whether the window is longer than a day, so that times need their dates. */
  readonly hasDates: boolean;
  readonly onSort: (quantity: string) => void;
  readonly onOpen: (command: string | null) => void;
  readonly onShow: (process: ListedProcess) => void;
}

/** Thousands of commands and processes; only those on the screen are drawn. */
export function ProcessTable(props: ProcessTableProps) {
  const { fields, rows, sort, isStale, onSort } = props;
  const { scroller, first, last } = useVisibleRows(rows.length, ROW_HEIGHT);
  return (
    <div
      className="card process-scroller"
      ref={scroller}
      role="region"
      aria-label="Commands and processes"
      tabIndex={0}
      data-stale={isStale}
    >
      <table className="process-table" aria-label="Commands and processes" aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            <th scope="col">Command</th>
            {fields.map((field) => (
              <th scope="col" key={field.key} className="number" aria-sort={field.quantity === sort ? "descending" : "none"}>
                <Tooltip
                  label={`${field.help} Mean of its samples; the highest one in the tooltip of the value.`}
                  multiline
                  maw={320}
                >
                  <UnstyledButton
                    className="process-sort"
                    onClick={() => {
                      onSort(field.quantity);
                    }}
                  >
                    {quantityTitle(field)}
                    {field.quantity === sort && <IconArrowDown size={13} aria-hidden />}
                  </UnstyledButton>
                </Tooltip>
              </th>
            ))}
            <th scope="col">First sample</th>
            <th scope="col">Last sample</th>
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr aria-hidden style={{ height: first * ROW_HEIGHT }} />}
          {rows.slice(first, last).map((row, index) => (
            <ProcessTableRow key={row.key} {...props} row={row} number={first + index + 2} />
          ))}
          {last < rows.length && <tr aria-hidden style={{ height: (rows.length - last) * ROW_HEIGHT }} />}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps extends ProcessTableProps {
  readonly row: TableRow;
  readonly number: number;
}

function ProcessTableRow({ row, number, fields, childFields, open, zone, hasDates, onOpen, onShow }: RowProps) {
  const { process, isChild } = row;
  const isOpen = !isChild && process.command === open;
  const own = isChild ? childFields : fields;
  return (
    <tr aria-rowindex={number} data-child={isChild} style={{ height: ROW_HEIGHT }}>
      <th scope="row">
        {!isChild && process.pid === null && (
          <ActionIcon
            size="sm"
            aria-label={`Processes of ${process.command}`}
            aria-expanded={isOpen}
            onClick={() => {
              onOpen(isOpen ? null : process.command);
            }}
          >
            {isOpen ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
          </ActionIcon>
        )}
        <button
          type="button"
          className="text-button process-name"
          title={processTitle(process)}
          onClick={() => {
            onShow(process);
          }}
        >
          {processTitle(process)}
        </button>
      </th>
      {fields.map(({ key, quantity }) => {
        const at = own.findIndex((field) => field.quantity === quantity);
        const unit = own[at]?.unit ?? "";
        const mean = process.mean[at] ?? null;
        return (
          <td key={key} className="number" title={`highest ${formatValue(process.max[at] ?? null, 2)} ${unit}`}>
            {at < 0 ? "" : formatQuantity(mean, unit)}
          </td>
        );
      })}
      {[process.first_sample_at, process.last_sample_at].map((at, end) => (
        <td key={end}>
          {hasDates ? (
            <Instant at={fromApi(at)} zone={zone} />
          ) : (
            <time dateTime={at} title={formatInstant(zone, fromApi(at))}>
              {formatClock(zone, wholeSecond(fromApi(at)))}
            </time>
          )}
        </td>
      ))}
    </tr>
  );
}
