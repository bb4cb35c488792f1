import { Group, Stack, Table, Text, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMatrixQuery } from "../../api/use";
import { Instant } from "../../components/Instant";
import { RangePicker } from "../../components/RangePicker";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView } from "../../components/StateView";
import type { HostInfo, UseCell, UseMatrix } from "../../logic/api";
import { counted } from "../../logic/counted";
import type { ExploredMetric } from "../../logic/explore";
import { liveEnd, resolveRange } from "../../logic/range";
import { SECOND, toDurationMs, wholeSecond } from "../../logic/time";
import { cellsOf, countStates, hiddenUnits, limitsOf, metricOf, nameResource } from "../../logic/use_matrix";
import type { Zone } from "../../logic/zone";
import { useNow } from "../../state/clock";
import type { ReactNode } from "react";
import { nodes } from "../../components/nodes";
import { StatusPanel } from "./StatusPanel";
import type { HostViewState } from "./useHostView";
import "../../components/use_cell.css";

const summaryText = (
  count: { readonly nCritical: number; readonly nWarning: number; readonly nUnanswered: number },
  at: ReactNode,
) =>
  nodes`${String(count.nCritical)} critical, ${String(count.nWarning)} warning, ${String(count.nUnanswered)} not recorded; in the 5 minutes before ${at}`;

const stateText = (state: string) =>
  ({ fine: "fine", warning: "warning", critical: "critical", no_limit: "no limit known" })[state] ?? state;

// Means of five minutes change slowly.
const PERIOD = toDurationMs(30 * SECOND);

interface UseTabProps {
  readonly host: HostInfo;
  readonly state: HostViewState;
  readonly zone: Zone;
}

/** The status of the host by the rules and the matrix, and utilisation, saturation and errors of each resource, before the end of the range. */
export function UseTab({ host, state, zone }: UseTabProps) {
  const now = useNow(PERIOD);
  const shown = resolveRange(state.view.range, liveEnd(now, null), zone);
  const at = wholeSecond(shown.end);
  const answer = useQuery(useMatrixQuery(host.name, at));
  const onMetric = (metric: ExploredMetric): void => {
    state.set({ tab: "graphs", explored: [metric] });
  };
  return (
    <Stack gap="sm">
      <Group gap="md" className="no-print">
        <RangePicker
          range={state.view.range}
          window={shown}
          zone={zone}
          onChange={(range) => {
            state.set({ range });
          }}
        />
        {answer.data && (
          <Text fz="sm" role="status">
            {summaryText(countStates(answer.data), <Instant at={at} zone={zone} />)}
          </Text>
        )}
      </Group>
      <StatusPanel host={host.name} at={at} clock={state.view.clock} matrix={answer.data} />
      {answer.data ? <Matrix matrix={answer.data} onMetric={onMetric} /> : <PendingView query={answer} />}
    </Stack>
  );
}

interface MatrixProps {
  readonly matrix: UseMatrix;
  readonly onMetric: (metric: ExploredMetric) => void;
}

function Matrix({ matrix, onMetric }: MatrixProps) {
  const nHidden = hiddenUnits(matrix);
  return (
    <ScrollCard label="Utilisation, saturation and errors of each resource">
      <Table
        aria-label="Utilisation, saturation and errors of each resource"
        verticalSpacing={6}
        withColumnBorders
        layout="fixed"
        miw={760}
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={130}>Resource</Table.Th>
            <Table.Th>Utilisation</Table.Th>
            <Table.Th>Saturation</Table.Th>
            <Table.Th>Errors</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {matrix.rows.map((row) => (
            <Table.Tr key={`${row.resource} ${row.title}`}>
              <Table.Th scope="row" className="use-resource">
                {row.limits === "" ? nameResource(row.resource) : row.title}
                {row.limits !== "" && (
                  <Text fz={12} className="soft">
                    {row.limits}
                  </Text>
                )}
              </Table.Th>
              {cellsOf(row).map((cell, place) => (
                <Cell key={String(place)} cell={cell} onMetric={onMetric} />
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
        {nHidden > 0 && <Table.Caption>{`${counted(nHidden, "more unit")} with limits, all better off`}</Table.Caption>}
      </Table>
    </ScrollCard>
  );
}

function Cell({ cell, onMetric }: { readonly cell: UseCell | null; readonly onMetric: MatrixProps["onMetric"] }) {
  if (cell === null) {
    return <Table.Td className="soft">–</Table.Td>;
  }
  const metric = metricOf(cell);
  return (
    <Table.Td className="use-cell" data-state={cell.state}>
      {metric === null ? (
        <>
          <span className="soft">Not recorded. Run on the host:</span>
          <code className="use-command">{cell.command}</code>
          {cell.record !== "" && (
            <>
              <span className="soft">{"To record it, in the agent's stats.conf:"}</span>
              <code className="use-command">{cell.record}</code>
            </>
          )}
        </>
      ) : (
        <Tooltip label={describeCell(cell)} multiline maw={420}>
          <button
            type="button"
            className="text-button use-value"
            onClick={() => {
              onMetric(metric);
            }}
          >
            {cell.text}
          </button>
        </Tooltip>
      )}
      {metric !== null && (
        <Text fz={12} className="soft">
          <span className="use-state">{stateText(cell.state)}</span>
          {[cell.n_instances > 1 ? `highest of ${String(cell.n_instances)}` : "", limitsOf(cell)]
            .filter((text) => text !== "")
            .map((text) => ` · ${text}`)}
        </Text>
      )}
    </Table.Td>
  );
}

function describeCell({ about, stat, field, limits_from }: UseCell): string {
  const limits = limits_from === "" ? "" : `Limits: ${limits_from}.`;
  return [about, `Read from ${stat ?? ""}.${field ?? ""}.`, limits].filter((text) => text !== "").join(" ");
}
