import { Table, Text, Tooltip } from "@mantine/core";
import { Age, Instant } from "../../components/Instant";
import { PageLink } from "../../components/PageLink";
import { StateBadge } from "../../components/StateBadge";
import { ScrollCard } from "../../components/ScrollCard";
import { StateView } from "../../components/StateView";
import type { HostDetail } from "../../logic/api";
import { kindsToShow, totalLines } from "../../logic/host";
import { formatBytes, formatCount, plural } from "../../logic/number";
import { fromApi, SECOND } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { useNow } from "../../state/clock";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";

interface StreamsProps {
  readonly detail: HostDetail;
  readonly zone: Zone;
  readonly clock: Clock;
}

/** Every run of every tool on the host, and what became of each line that it printed. */
export function Streams({ detail, zone, clock }: StreamsProps) {
  const now = useNow(SECOND);
  const { streams, host, n_old_streams } = detail;
  const kinds = kindsToShow(streams.map(({ n_lines }) => n_lines));
  if (streams.length === 0) {
    return (
      <StateView
        state={{
          kind: "empty",
          title: "No stream has come from this host in the last week",
          next: "Look on the host whether the agent runs: normstat-agent status",
        }}
      />
    );
  }
  return (
    <>
      <ScrollCard label="Streams">
        <Table aria-label="Streams">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Spec and command</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th>Began</Table.Th>
              <Table.Th>Last received</Table.Th>
              <Table.Th>Last sample</Table.Th>
              <Table.Th className="number">Received</Table.Th>
              <Table.Th className="number">Lines</Table.Th>
              {kinds.map(({ key, label, help }) => (
                <Table.Th key={key} className="number">
                  <Tooltip label={help}>
                    <span>{label}</span>
                  </Tooltip>
                </Table.Th>
              ))}
              <Table.Th className="number">
                <Tooltip label="Bytes that the agent had to drop before they could be sent">
                  <span>Lost</span>
                </Tooltip>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {streams.map((stream) => (
              <Table.Tr key={stream.id}>
                <Table.Td>
                  <Tooltip
                    label={`stream ${stream.key}; yields ${stream.stats.join(", ") || "nothing: no spec knows this tool"}`}
                  >
                    <span style={{ fontWeight: 600 }}>{stream.spec}</span>
                  </Tooltip>
                  <Text className="mono soft" maw={240} truncate title={stream.command}>
                    {stream.command}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <StateBadge state={stream.state} />
                </Table.Td>
                <Table.Td>
                  <Instant at={fromApi(stream.created_at)} zone={zone} />
                </Table.Td>
                <Table.Td>
                  {stream.last_received_at === null ? (
                    "never"
                  ) : (
                    <Age at={fromApi(stream.last_received_at)} now={now} zone={zone} />
                  )}
                </Table.Td>
                <Table.Td>
                  {stream.last_sample_at === null ? (
                    <span className="soft">none</span>
                  ) : (
                    <Instant at={fromApi(stream.last_sample_at)} zone={zone} />
                  )}
                </Table.Td>
                <Table.Td className="number">
                  <Tooltip label={`acknowledged offset ${formatCount(stream.acked_offset)}`}>
                    <span>{formatBytes(stream.acked_offset)}</span>
                  </Tooltip>
                </Table.Td>
                <Table.Td className="number">{formatCount(totalLines(stream.n_lines))}</Table.Td>
                {kinds.map(({ key }) => (
                  <Table.Td key={key} className="number">
                    {key === "rejected" && stream.n_lines.rejected > 0 ? (
                      <PageLink
                        to="/hosts/$host"
                        params={{ host: host.name }}
                        search={encodeHostView({ ...DEFAULT_HOST_VIEW, clock, tab: "rejected", streamId: stream.id })}
                        c="var(--bad)"
                      >
                        {formatCount(stream.n_lines.rejected)}
                      </PageLink>
                    ) : (
                      formatCount(stream.n_lines[key])
                    )}
                  </Table.Td>
                ))}
                <Table.Td className="number">
                  {stream.n_gap_bytes === 0 ? (
                    "0"
                  ) : (
                    <span style={{ color: "var(--bad)" }}>{formatBytes(stream.n_gap_bytes)}</span>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollCard>
      {n_old_streams > 0 && (
        <Text fz="sm" className="soft" mt="xs">
          {plural(n_old_streams, "stream")} ended more than a week ago; their samples are all here.
        </Text>
      )}
    </>
  );
}
