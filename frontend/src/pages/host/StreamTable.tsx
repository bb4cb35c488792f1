import { ActionIcon, Badge, Group, Table, Text, Tooltip } from "@mantine/core";
import { IconChevronDown, IconChevronRight, IconHistory } from "@tabler/icons-react";
import { Fragment } from "react";
import { Instant } from "../../components/Instant";
import { StateBadge } from "../../components/StateBadge";
import type { LineCounts, StreamAccount } from "../../logic/api";
import { kindsToShow, type LINE_KINDS, totalLines } from "../../logic/host";
import { formatBytes, formatCount } from "../../logic/number";
import { describeSinceBoot, describeVersion } from "../../logic/stream";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { StreamDetails } from "./StreamDetails";

interface StreamTableProps {
  readonly host: string;
  readonly streams: readonly StreamAccount[];
  readonly openId: number | null;
  readonly zone: Zone;
  readonly onOpen: (streamId: number | null) => void;
  readonly onShow: (streamId: number, offset: number) => void;
}

/** A row for each stream; one of them is expanded. */
export function StreamTable({ host, streams, openId, zone, onOpen, onShow }: StreamTableProps) {
  const kinds = kindsToShow(streams.map(({ stream }) => stream.n_lines));
  return (
    <Table aria-label="Streams">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Spec and command</Table.Th>
          <Table.Th>State</Table.Th>
          <Table.Th>First sample</Table.Th>
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
            <Tooltip label="Bytes dropped on the host before they could be sent">
              <span>lost</span>
            </Tooltip>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {streams.map((account) => (
          <Fragment key={account.stream.id}>
            <StreamRow
              account={account}
              kinds={kinds}
              isOpen={account.stream.id === openId}
              zone={zone}
              onToggle={() => {
                onOpen(account.stream.id === openId ? null : account.stream.id);
              }}
            />
            {account.stream.ended !== null && (
              <Table.Tr>
                <Table.Td colSpan={7 + kinds.length} pt={0} pl={36}>
                  <Text fz="sm" style={{ overflowWrap: "anywhere" }}>
                    <Instant at={fromApi(account.stream.ended.at)} zone={zone} />: {account.stream.ended.text}
                  </Text>
                </Table.Td>
              </Table.Tr>
            )}
            {account.stream.id === openId && (
              <Table.Tr className="stream-details">
                <Table.Td colSpan={7 + kinds.length} id={detailsId(account)}>
                  <StreamDetails
                    host={host}
                    account={account}
                    zone={zone}
                    onShow={(offset) => {
                      onShow(account.stream.id, offset);
                    }}
                  />
                </Table.Td>
              </Table.Tr>
            )}
          </Fragment>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function detailsId({ stream }: StreamAccount): string {
  return `stream-${String(stream.id)}`;
}

interface StreamRowProps {
  readonly account: StreamAccount;
  readonly kinds: typeof LINE_KINDS;
  readonly isOpen: boolean;
  readonly zone: Zone;
  readonly onToggle: () => void;
}

function StreamRow({ account, kinds, isOpen, zone, onToggle }: StreamRowProps) {
  const { stream } = account;
  const sinceBoot = describeSinceBoot(account);
  return (
    <Table.Tr data-open={isOpen} {...(stream.ended === null ? {} : { style: { borderBottom: 0 } })}>
      <Table.Td>
        <Group gap={4} wrap="nowrap" align="flex-start">
          <ActionIcon
            size="sm"
            aria-label={`Details of ${stream.spec}, stream ${stream.key}`}
            aria-expanded={isOpen}
            {...(isOpen ? { "aria-controls": detailsId(account) } : {})}
            onClick={onToggle}
          >
            {isOpen ? <IconChevronDown size={15} /> : <IconChevronRight size={15} />}
          </ActionIcon>
          <div>
            <Group gap={6} wrap="nowrap">
              <Tooltip label={`stream ${stream.key}; ${stream.stats.join(", ") || "no stats (no spec for this tool)"}`}>
                <span style={{ fontWeight: 600 }}>{stream.spec}</span>
              </Tooltip>
              {account.is_outdated && (
                <Tooltip label={`Parsed with ${describeVersion(account)}`}>
                  <Badge color="yellow" variant="outline" c="var(--warn)" leftSection={<IconHistory size={12} aria-hidden />}>
                    outdated
                  </Badge>
                </Tooltip>
              )}
            </Group>
            <Text className="mono soft" maw={240} truncate title={stream.command || stream.key}>
              {stream.command || stream.key}
            </Text>
            {sinceBoot !== "" && (
              <Text fz="xs" maw={240} c="var(--warn)">
                {sinceBoot}
              </Text>
            )}
          </div>
        </Group>
      </Table.Td>
      <Table.Td>
        <StateBadge state={stream.state} />
      </Table.Td>
      <Table.Td>
        <SampleTime at={account.first_sample_at} zone={zone} />
      </Table.Td>
      <Table.Td>
        <SampleTime at={stream.last_sample_at} zone={zone} />
      </Table.Td>
      <Table.Td className="number">{formatBytes(stream.acked_offset - stream.n_gap_bytes)}</Table.Td>
      <Table.Td className="number">{formatCount(totalLines(stream.n_lines))}</Table.Td>
      {kinds.map(({ key }) => (
        <Table.Td key={key} className="number">
          <LineCount kind={key} n={stream.n_lines[key]} />
        </Table.Td>
      ))}
      <Table.Td className="number">
        {stream.n_gap_bytes === 0 ? "0" : <span style={{ color: "var(--bad)" }}>{formatBytes(stream.n_gap_bytes)}</span>}
      </Table.Td>
    </Table.Tr>
  );
}

function LineCount({ kind, n }: { readonly kind: keyof LineCounts; readonly n: number }) {
  return kind === "rejected" && n > 0 ? (
    <span style={{ color: "var(--bad)", fontWeight: 600 }}>{formatCount(n)}</span>
  ) : (
    formatCount(n)
  );
}

function SampleTime({ at, zone }: { readonly at: string | null; readonly zone: Zone }) {
  return at === null ? <span className="soft">none</span> : <Instant at={fromApi(at)} zone={zone} />;
}
