import { useMemo } from "react";
import type { FieldInfo, LineStatistics, LineValues, PanelStatistics } from "../../logic/api";
import { formatCount } from "../../logic/number";
import type { PanelPlan } from "../../logic/panel";
import { seriesKey, seriesName } from "../../logic/series";
import {
  byChange,
  changeOf,
  formatStatistic,
  largestOf,
  type LineChange,
  type Statistic,
  STATISTIC_LABELS,
} from "../../logic/statistics";
import { scaleFor } from "../../logic/unit";
import { counted } from "../../logic/counted";

const COLUMNS: readonly Statistic[] = ["lowest", "mean", "p95", "highest"];

interface Row {
  readonly line: LineStatistics;
  readonly field: FieldInfo;
  readonly name: string;
  readonly change: LineChange;
}

interface SelectionTableProps {
  readonly plan: PanelPlan;
  readonly statistics: PanelStatistics;
}

/** Each line of a panel: its statistics in the selection, and under them those of the baseline; what differs most comes first. */
export function SelectionTable({ plan, statistics }: SelectionTableProps) {
  const rows = useMemo(() => rowsOf(plan, statistics.lines), [plan, statistics]);
  const scale = scaleFor(plan.unit, largestOf(statistics.lines));
  const cell = (values: LineValues | null, statistic: Statistic, field: FieldInfo): string =>
    formatStatistic(values?.[statistic] ?? null, statistic, field.decimals, scale);
  const notes = [
    statistics.note,
    statistics.baseline?.note ?? "",
    statistics.baseline?.seasonal_note ?? "",
    statistics.n_instances_left_out > 0 ? `${counted(statistics.n_instances_left_out, "instance")} not listed` : "",
  ].filter((note) => note !== "");
  return (
    <>
      <div className="mark-table" tabIndex={0} role="group" aria-label={`Statistics of ${plan.title}, scrollable`}>
        <table aria-label={`Statistics of ${plan.title}: selection and baseline`}>
          <thead>
            <tr>
              <th scope="col">{scale.unit === plan.unit ? "" : scale.unit}</th>
              <th scope="col" aria-label="Side" />
              <th scope="col">n</th>
              {COLUMNS.map((statistic) => (
                <th key={statistic} scope="col">
                  {STATISTIC_LABELS[statistic]}
                </th>
              ))}
              <th scope="col">change</th>
            </tr>
          </thead>
          {rows.map(({ line, field, name, change }) => (
            <tbody key={seriesKey(line)} data-tone={change.tone}>
              <tr>
                <th scope="rowgroup" rowSpan={2} title={field.help}>
                  {name}
                </th>
                <th scope="row">selected</th>
                <td>{formatCount(line.window.n)}</td>
                {COLUMNS.map((statistic) => (
                  <td key={statistic}>{cell(line.window, statistic, field)}</td>
                ))}
                <td rowSpan={2} className="mark-change">
                  {change.text}
                </td>
              </tr>
              <tr className="mark-baseline">
                <th scope="row">baseline</th>
                <td>{formatCount(line.baseline?.n ?? 0)}</td>
                {COLUMNS.map((statistic) => (
                  <td key={statistic}>{cell(line.baseline, statistic, field)}</td>
                ))}
              </tr>
            </tbody>
          ))}
        </table>
      </div>
      {notes.map((note) => (
        <p key={note} className="soft mark-note">
          {note}.
        </p>
      ))}
    </>
  );
}

function rowsOf(plan: PanelPlan, lines: readonly LineStatistics[]): readonly Row[] {
  const nInstances = new Set(lines.map(({ instance }) => instance)).size;
  const rows = lines.flatMap((line): readonly Row[] => {
    const field = plan.fields.find(({ key }) => key === line.field);
    return field === undefined
      ? []
      : [
          {
            line,
            field,
            name: seriesName(field.column, line.instance, plan.fields.length, nInstances),
            change: changeOf(line, field),
          },
        ];
  });
  return byChange(rows);
}
