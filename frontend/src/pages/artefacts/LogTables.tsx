import { Button, Table, Text } from "@mantine/core";
import { ScrollCard } from "../../components/ScrollCard";
import type { Blocking, BlockingList, LatencySummary } from "../../logic/api";
import { formatCount, formatShare } from "../../logic/number";
import { barShare, formatSpan } from "../../logic/trace_log";

interface BlockingTableProps {
  readonly list: BlockingList;
  readonly onShow: (row: Blocking) => void;
}

/** Who waited for whom, the longest wait first. */
export function BlockingTable({ list, onShow }: BlockingTableProps) {
  if (list.rows.length === 0) {
    return (
      <Text fz="sm">
        The log does not show that a thread waited for another one. It needs lock and unlock events, sched_switch with
        sched_waking, or strace -f -T.
      </Text>
    );
  }
  return (
    <ScrollCard label="Who blocked whom">
      <Table aria-label="Who blocked whom">
        <Table.Thead>
          <Table.Tr>
            <Table.Th className="number">Waited</Table.Th>
            <Table.Th>What happened</Table.Th>
            <Table.Th className="number">Held</Table.Th>
            <Table.Th className="number">Release to go-on</Table.Th>
            <Table.Th />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {list.rows.slice(0, 20).map((row) => (
            <Table.Tr key={`${row.wait_end} ${row.sentence}`}>
              <Table.Td className="number">
                {row.wait_is_limit ? "≤ " : ""}
                {formatSpan(row.wait_ns)}
              </Table.Td>
              <Table.Td>{row.sentence}</Table.Td>
              <Table.Td className="number">
                {row.held_is_limit ? "≤ " : ""}
                {formatSpan(row.held_ns)}
              </Table.Td>
              <Table.Td className="number">{formatSpan(row.gap_ns)}</Table.Td>
              <Table.Td>
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Show: ${row.sentence}`}
                  onClick={() => {
                    onShow(row);
                  }}
                >
                  Show
                </Button>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollCard>
  );
}

/** Latencies by key, and their decades. */
export function LatencyTable({ summary }: { readonly summary: LatencySummary }) {
  return (
    <>
      <Text fz="sm" fw={600}>
        {[summary.concentration, summary.spread].filter((sentence) => sentence !== "").join("; ")}
      </Text>
      <Text fz="xs" className="soft" mb={4}>
        {`Not counted: ${formatCount(summary.n_unmatched_begin)} beginnings without an end, ${formatCount(summary.n_unmatched_end)} ends without a beginning.`}
      </Text>
      <ScrollCard label="Latencies">
        <Table aria-label="Latencies">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Key</Table.Th>
              <Table.Th className="number">Count</Table.Th>
              <Table.Th className="number">Average</Table.Th>
              <Table.Th className="number">Longest</Table.Th>
              <Table.Th className="number">Total</Table.Th>
              <Table.Th className="number">Share</Table.Th>
              {summary.decade_labels.map((label) => (
                <Table.Th key={label} className="number">
                  {label}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {summary.rows.map((row) => (
              <Table.Tr key={row.key}>
                <Table.Td className="mono">{row.key === "" ? "(none)" : row.key}</Table.Td>
                <Table.Td className="number">{formatCount(row.count)}</Table.Td>
                <Table.Td className="number">{formatSpan(row.avg_ns)}</Table.Td>
                <Table.Td className="number">{formatSpan(row.max_ns)}</Table.Td>
                <Table.Td className="number">{formatSpan(row.total_ns)}</Table.Td>
                <Table.Td className="number">{formatShare(row.share)}</Table.Td>
                {row.decades.map((count, at) => (
                  <Table.Td key={summary.decade_labels[at]} className="number log-decade">
                    <span style={{ width: `${String(100 * barShare(count, row.decades))}%` }} />
                    {formatCount(count)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollCard>
    </>
  );
}
