import { Button, Group, Select, Table, Text, VisuallyHidden } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { rejectedQuery } from "../../api/queries";
import { Instant } from "../../components/Instant";
import { LineContext } from "../../components/LineContext";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import type { StreamInfo } from "../../logic/api";
import { formatCount } from "../../logic/number";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import type { Place } from "../../state/url";
import { ShowInContext } from "./ReasonLines";
import { words } from "../../words";

const FIRST_LIMIT = 100;
const MAX_LIMIT = 1000;

interface RejectedLinesProps {
  readonly host: string;
  readonly streams: readonly StreamInfo[];
  readonly streamId: number | null;
  readonly zone: Zone;
  readonly place: Place | null;
  readonly onStream: (streamId: number | null) => void;
  readonly onShow: (place: Place | null) => void;
}

/** Lines that do not match their header or contain non-numeric values, with the reason. */
export function RejectedLines({ host, streams, streamId, zone, place, onStream, onShow }: RejectedLinesProps) {
  const [limit, setLimit] = useState(FIRST_LIMIT);
  const rejected = useQuery(rejectedQuery({ host, streamId, reason: null, limit }));
  const lines = rejected.data?.rejected_lines ?? [];
  const total = rejected.data?.n_total ?? 0;
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Select
          size="xs"
          w={340}
          aria-label={words.host.rejectedLines.stream}
          placeholder={words.host.rejectedLines.allStreams}
          clearable
          data={streams.map(({ id, spec, key }) => ({ value: String(id), label: `${spec} (${key})` }))}
          value={streamId === null ? null : String(streamId)}
          onChange={(value) => {
            onStream(value === null ? null : Number(value));
          }}
        />
        {rejected.data && (
          <Text fz="sm" className="soft">
            {lines.length < total
              ? words.host.rejectedLines.newestRejectedLine(formatCount(lines.length), total)
              : words.host.rejectedLines.nRejectedLine(total)}
          </Text>
        )}
      </Group>
      <ScrollCard label={words.common.rejectedLines}>
        {rejected.data === undefined ? (
          <PendingView query={rejected} what={words.host.rejectedLines.rejectedLines} />
        ) : lines.length === 0 ? (
          <StateView
            state={{
              kind: "empty",
              title: words.host.rejectedLines.noRejectedLines,
              next: words.host.rejectedLines.allOutputHostParsed,
            }}
          />
        ) : (
          <Table aria-label={words.common.rejectedLines}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{words.common.received}</Table.Th>
                <Table.Th>{words.common.spec}</Table.Th>
                <Table.Th className="number">{words.common.line}</Table.Th>
                <Table.Th className="number">{words.host.rejectedLines.offset}</Table.Th>
                <Table.Th>{words.common.reason}</Table.Th>
                <Table.Th>{words.common.text}</Table.Th>
                <Table.Th>
                  <VisuallyHidden>{words.host.rejectedLines.context}</VisuallyHidden>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {lines.map((line) => (
                <Table.Tr key={`${String(line.stream_id)} ${String(line.offset)}`}>
                  <Table.Td>
                    <Instant at={fromApi(line.received_at)} zone={zone} />
                  </Table.Td>
                  <Table.Td>{line.spec}</Table.Td>
                  <Table.Td className="number">{formatCount(line.line_no)}</Table.Td>
                  <Table.Td className="number">{formatCount(line.offset)}</Table.Td>
                  <Table.Td maw={420}>{line.reason}</Table.Td>
                  <Table.Td className="mono raw-text">
                    {line.text}
                    {line.n_bytes > line.text.length && (
                      <span className="soft"> {words.host.rejectedLines.byteInTotal(line.n_bytes)}</span>
                    )}
                  </Table.Td>
                  <Table.Td className="number">
                    <ShowInContext
                      lineNo={line.line_no}
                      onClick={() => {
                        onShow({ streamId: line.stream_id, offset: line.offset });
                      }}
                    />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </ScrollCard>
      {lines.length > 0 && lines.length < total && limit < MAX_LIMIT && (
        <Button
          mt="sm"
          variant="default"
          onClick={() => {
            setLimit(MAX_LIMIT);
          }}
        >
          {words.host.rejectedLines.showUpTo(formatCount(MAX_LIMIT))}
        </Button>
      )}
      {limit >= MAX_LIMIT && lines.length < total && (
        <Text fz="sm" className="soft" mt="sm">
          {words.host.rejectedLines.othersOnlyCountedTheir}
        </Text>
      )}
      {place !== null && (
        <LineContext
          streamId={place.streamId}
          offset={place.offset}
          onClose={() => {
            onShow(null);
          }}
        />
      )}
    </>
  );
}
