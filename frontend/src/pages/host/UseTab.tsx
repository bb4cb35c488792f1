import { Group, Stack, Table, Text, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMatrixQuery } from "../../api/use";
import { Instant } from "../../components/Instant";
import { RangePicker } from "../../components/RangePicker";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView } from "../../components/StateView";
import type { HostInfo, UseCell, UseMatrix } from "../../logic/api";
import type { ExploredMetric } from "../../logic/explore";
import { liveEnd, resolveRange } from "../../logic/range";
import { SECOND, toDurationMs, wholeSecond } from "../../logic/time";
import { cellsOf, countStates, limitsOf, metricOf } from "../../logic/use_matrix";
import type { Zone } from "../../logic/zone";
import { useNow } from "../../state/clock";
import { words } from "../../words";
import { StatusPanel } from "./StatusPanel";
import type { HostViewState } from "./useHostView";
import "../../components/use_cell.css";

// Means of five minutes change slowly.
const PERIOD = toDurationMs(30 * SECOND);

interface UseTabProps {
  readonly host: HostInfo;
  readonly state: HostViewState;
  readonly zone: Zone;
}

/** The status of the host by the rules, and utilisation, saturation and errors of each resource, before the end of the range. */
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
            {words.host.useTab.summary(countStates(answer.data), <Instant at={at} zone={zone} />)}
          </Text>
        )}
      </Group>
      <StatusPanel host={host.name} at={at} clock={state.view.clock} />
      {answer.data ? <Matrix matrix={answer.data} onMetric={onMetric} /> : <PendingView query={answer} />}
    </Stack>
  );
}

interface MatrixProps {
  readonly matrix: UseMatrix;
  readonly onMetric: (metric: ExploredMetric) => void;
}

function Matrix({ matrix, onMetric }: MatrixProps) {
  return (
    <ScrollCard label={words.host.useTab.matrix}>
      <Table aria-label={words.host.useTab.matrix} verticalSpacing={6} withColumnBorders layout="fixed" miw={760}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={130}>{words.host.useTab.resource}</Table.Th>
            <Table.Th>{words.host.useTab.utilisation}</Table.Th>
            <Table.Th>{words.host.useTab.saturation}</Table.Th>
            <Table.Th>{words.host.useTab.errors}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {matrix.rows.map((row) => (
            <Table.Tr key={row.resource}>
              <Table.Th scope="row">{words.host.useTab.resources(row.resource)}</Table.Th>
              {cellsOf(row).map((cell, place) => (
                <Cell key={String(place)} cell={cell} onMetric={onMetric} />
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollCard>
  );
}

function Cell({ cell, onMetric }: { readonly cell: UseCell | null; readonly onMetric: MatrixProps["onMetric"] }) {
  if (cell === null) {
    return <Table.Td className="soft">{words.host.useTab.nothingToAsk}</Table.Td>;
  }
  const metric = metricOf(cell);
  return (
    <Table.Td className="use-cell" data-state={cell.state}>
      {metric === null ? (
        <>
          <span className="soft">{words.host.useTab.notRecorded}</span>
          <code className="use-command">{cell.command}</code>
          {cell.record !== "" && (
            <>
              <span className="soft">{words.host.useTab.toRecord}</span>
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
          <span className="use-state">{words.host.useTab.state(cell.state)}</span>
          {[cell.n_instances > 1 ? words.host.useTab.worstOf(cell.n_instances) : "", limitsOf(cell)]
            .filter((text) => text !== "")
            .map((text) => ` · ${text}`)}
        </Text>
      )}
    </Table.Td>
  );
}

function describeCell({ about, stat, field, limits_from }: UseCell): string {
  const limits = limits_from === "" ? "" : words.host.useTab.limitsFrom(limits_from);
  return [about, words.host.useTab.readFrom(`${stat ?? ""}.${field ?? ""}`), limits].filter((text) => text !== "").join(" ");
}
