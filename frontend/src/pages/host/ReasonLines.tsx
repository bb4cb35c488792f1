import { Button, Table, Text, VisuallyHidden } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { rejectedQuery } from "../../api/queries";
import { Instant } from "../../components/Instant";
import { PendingView } from "../../components/StateView";
import { formatCount } from "../../logic/number";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { counted } from "../../logic/counted";

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
    return <PendingView isCompact query={rejected} what="lines" />;
  }
  const { rejected_lines: lines, n_total } = rejected.data;
  return (
    <>
      <Table aria-label="Lines rejected for this reason" verticalSpacing={2} withRowBorders={false}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={1}>Received</Table.Th>
            <Table.Th className="number" w={90}>
              Line
            </Table.Th>
            <Table.Th>Text</Table.Th>
            <Table.Th>
              <VisuallyHidden>Context</VisuallyHidden>
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
          {`the newest ${formatCount(lines.length)} of ${counted(n_total, "line")} with stored text`}
        </Text>
      )}
    </>
  );
}

/** Opens a rejected line in its context. */
export function ShowInContext({ lineNo, onClick }: { readonly lineNo: number; readonly onClick: () => void }) {
  return (
    <Button size="compact-xs" variant="default" aria-label={`Show in context: line ${formatCount(lineNo)}`} onClick={onClick}>
      Show in context
    </Button>
  );
}
