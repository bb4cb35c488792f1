import { Button, Table, Text } from "@mantine/core";
import { ScrollCard } from "../../components/ScrollCard";
import type { Blocking, BlockingList, LatencySummary } from "../../logic/api";
import { formatCount, formatShare } from "../../logic/number";
import { barShare, formatSpan } from "../../logic/trace_log";
import { words } from "../../words";

interface BlockingTableProps {
  readonly list: BlockingList;
  readonly onShow: (row: Blocking) => void;
}

/** Who waited for whom, the longest wait first. */
export function BlockingTable({ list, onShow }: BlockingTableProps) {
  if (list.rows.length === 0) {
    return <Text fz="sm">{words.traceLog.nobodyBlocked}</Text>;
  }
  return (
    <ScrollCard label={words.traceLog.whoBlocked}>
      <Table aria-label={words.traceLog.whoBlocked}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th className="number">{words.traceLog.waited}</Table.Th>
            <Table.Th>{words.traceLog.what}</Table.Th>
            <Table.Th className="number">{words.traceLog.held}</Table.Th>
            <Table.Th className="number">{words.traceLog.gap}</Table.Th>
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
                  aria-label={`${words.traceLog.show}: ${row.sentence}`}
                  onClick={() => {
                    onShow(row);
                  }}
                >
                  {words.traceLog.show}
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
        {words.traceLog.unmatched(formatCount(summary.n_unmatched_begin), formatCount(summary.n_unmatched_end))}
      </Text>
      <ScrollCard label={words.traceLog.latencies}>
        <Table aria-label={words.traceLog.latencies}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.traceLog.key}</Table.Th>
              <Table.Th className="number">{words.traceLog.count}</Table.Th>
              <Table.Th className="number">{words.traceLog.average}</Table.Th>
              <Table.Th className="number">{words.traceLog.longest}</Table.Th>
              <Table.Th className="number">{words.traceLog.total}</Table.Th>
              <Table.Th className="number">{words.traceLog.share}</Table.Th>
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
                <Table.Td className="mono">{row.key === "" ? words.traceLog.noKey : row.key}</Table.Td>
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
