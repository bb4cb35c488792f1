import { Button, Group, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type LogChoice, logEventsQuery } from "../../api/trace_log";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView } from "../../components/StateView";
import { formatCount } from "../../logic/number";
import { formatSpan } from "../../logic/trace_log";

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
      <ScrollCard label="Events">
        <Table aria-label="Events">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Time</Table.Th>
              <Table.Th className="number">After the one before</Table.Th>
              <Table.Th className="number">CPU</Table.Th>
              <Table.Th className="number">PID</Table.Th>
              <Table.Th>Command</Table.Th>
              <Table.Th>Event</Table.Th>
              <Table.Th>Object</Table.Th>
              <Table.Th>Function</Table.Th>
              <Table.Th className="number">Duration</Table.Th>
              <Table.Th>Arguments</Table.Th>
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
          Earlier
        </Button>
        <Button
          size="compact-xs"
          variant="default"
          disabled={(page + 1) * ROWS >= nEvents}
          onClick={() => {
            onPage(page + 1);
          }}
        >
          Later
        </Button>
        <Text fz="xs" className="soft">
          {`up to ${formatCount(page * ROWS + rows.length)} of ${formatCount(nEvents)}`}
        </Text>
      </Group>
    </>
  );
}
