import { Button, Table, Text, VisuallyHidden } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { rejectedQuery } from "../../api/queries";
import { Instant } from "../../components/Instant";
import { PendingView } from "../../components/StateView";
import { formatCount } from "../../logic/number";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { words } from "../../words";

const SHOWN = 20;

interface ReasonLinesProps {
  readonly host: string;
  readonly streamId: number;
  readonly reason: string;
  readonly zone: Zone;
  readonly onShow: (offset: number) => void;
}

/** The newest lines of a stream that were rejected for one reason. */
export function ReasonLines({ host, streamId, reason, zone, onShow }: ReasonLinesProps) {
  const rejected = useQuery(rejectedQuery({ host, streamId, reason, limit: SHOWN }));
  if (rejected.data === undefined) {
    return <PendingView isCompact query={rejected} what={words.host.reasonLines.lines} />;
  }
  const { rejected_lines: lines, n_total } = rejected.data;
  return (
    <>
      <Table aria-label={words.host.reasonLines.linesRejectedReason} verticalSpacing={2} withRowBorders={false}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={1}>{words.common.received}</Table.Th>
            <Table.Th className="number" w={90}>
              {words.common.line}
            </Table.Th>
            <Table.Th>{words.common.text}</Table.Th>
            <Table.Th>
              <VisuallyHidden>{words.host.reasonLines.context}</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {lines.map((line) => (
            <Table.Tr key={line.offset}>
              <Table.Td>
                <Instant at={fromApi(line.received_at)} zone={zone} />
              </Table.Td>
              <Table.Td className="number">{formatCount(line.line_no)}</Table.Td>
              <Table.Td className="mono raw-text">{line.text}</Table.Td>
              <Table.Td className="number">
                <ShowInContext
                  lineNo={line.line_no}
                  onClick={() => {
                    onShow(line.offset);
                  }}
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {n_total > lines.length && (
        <Text fz="sm" className="soft">
          {words.host.reasonLines.newestLineStoredText(formatCount(lines.length), n_total)}
        </Text>
      )}
    </>
  );
}

/** Opens a rejected line in its context. */
export function ShowInContext({ lineNo, onClick }: { readonly lineNo: number; readonly onClick: () => void }) {
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={words.host.reasonLines.showInContextLine(formatCount(lineNo))}
      onClick={onClick}
    >
      {words.host.reasonLines.showInContext}
    </Button>
  );
}
