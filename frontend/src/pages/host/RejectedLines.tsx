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
import { counted } from "../../logic/counted";

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
          aria-label="Stream"
          placeholder="all streams"
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
              ? `the newest ${formatCount(lines.length)} of ${counted(total, "rejected line")}`
              : counted(total, "rejected line")}
          </Text>
        )}
      </Group>
      <ScrollCard label="Rejected lines">
        {rejected.data === undefined ? (
          <PendingView query={rejected} what="rejected lines" />
        ) : lines.length === 0 ? (
          <StateView state={{ kind: "empty", title: "No rejected lines", next: "All output of this host was parsed." }} />
        ) : (
          <Table aria-label="Rejected lines">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Received</Table.Th>
                <Table.Th>Spec</Table.Th>
                <Table.Th className="number">Line</Table.Th>
                <Table.Th className="number">Offset</Table.Th>
                <Table.Th>Reason</Table.Th>
                <Table.Th>Text</Table.Th>
                <Table.Th>
                  <VisuallyHidden>Context</VisuallyHidden>
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
                      <span className="soft"> {`(${counted(line.n_bytes, "byte")} in total)`}</span>
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
          {`Show up to ${formatCount(MAX_LIMIT)}`}
        </Button>
      )}
      {limit >= MAX_LIMIT && lines.length < total && (
        <Text fz="sm" className="soft" mt="sm">
          The others are only counted; their bytes are still in the stream.
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
