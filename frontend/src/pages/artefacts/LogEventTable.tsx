import { Button, Group, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type LogChoice, logEventsQuery } from "../../api/trace_log";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView } from "../../components/StateView";
import { formatCount } from "../../logic/number";
import { formatSpan } from "../../logic/trace_log";
import { words } from "../../words";

const ROWS = 50;

interface LogEventTableProps {
  readonly choice: LogChoice;
  readonly page: number;
  readonly onPage: (page: number) => void;
}

/** The events one by one, with all digits of their times. */
export function LogEventTable({ choice, page, onPage }: LogEventTableProps) {
  const found = useQuery(logEventsQuery(choice, page * ROWS, ROWS));
  if (found.data === undefined) {
    return <PendingView query={found} isCompact />;
  }
  const { rows, n_events: nEvents } = found.data;
  return (
    <>
      <ScrollCard label={words.traceLog.events}>
        <Table aria-label={words.traceLog.events}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.traceLog.time}</Table.Th>
              <Table.Th className="number">{words.traceLog.since}</Table.Th>
              <Table.Th className="number">CPU</Table.Th>
              <Table.Th className="number">PID</Table.Th>
              <Table.Th>{words.traceLog.command}</Table.Th>
              <Table.Th>{words.traceLog.event}</Table.Th>
              <Table.Th>{words.traceLog.object}</Table.Th>
              <Table.Th>{words.traceLog.function}</Table.Th>
              <Table.Th className="number">{words.traceLog.duration}</Table.Th>
              <Table.Th>{words.traceLog.arguments}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row, at) => (
              <Table.Tr key={at}>
                <Table.Td className="mono">{row.printed}</Table.Td>
                <Table.Td className="number">{row.since_ns === null ? "" : `+${formatSpan(row.since_ns)}`}</Table.Td>
                <Table.Td className="number">{row.cpu ?? ""}</Table.Td>
                <Table.Td className="number">{row.pid ?? ""}</Table.Td>
                <Table.Td>{row.command}</Table.Td>
                <Table.Td>{row.event}</Table.Td>
                <Table.Td className="mono">{row.object}</Table.Td>
                <Table.Td className="mono">{row.function}</Table.Td>
                <Table.Td className="number">{row.duration_ns === null ? "" : formatSpan(row.duration_ns)}</Table.Td>
                <Table.Td className="mono log-arguments">{row.arguments}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollCard>
      <Group gap="xs" mt={4}>
        <Button
          size="compact-xs"
          variant="default"
          disabled={page === 0}
          onClick={() => {
            onPage(page - 1);
          }}
        >
          {words.traceLog.earlier}
        </Button>
        <Button
          size="compact-xs"
          variant="default"
          disabled={(page + 1) * ROWS >= nEvents}
          onClick={() => {
            onPage(page + 1);
          }}
        >
          {words.traceLog.later}
        </Button>
        <Text fz="xs" className="soft">
          {words.traceLog.shownRows(formatCount(page * ROWS + rows.length), formatCount(nEvents))}
        </Text>
      </Group>
    </>
  );
}
