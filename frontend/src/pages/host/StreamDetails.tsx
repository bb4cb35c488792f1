import { Button, Group, Table, Text, Title } from "@mantine/core";
import { useState } from "react";
import { Instant } from "../../components/Instant";
import { ReparseButton } from "../../components/ReparseButton";
import type { ReasonCount, StreamAccount } from "../../logic/api";
import { formatBytes, formatCount } from "../../logic/number";
import { describeVersion, formatReasonCount, mayReparseHelp, kindRows } from "../../logic/stream";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { ReasonLines } from "./ReasonLines";
import { counted } from "../../logic/counted";
import { nodes } from "../../components/nodes";

interface StreamDetailsProps {
  readonly host: string;
  readonly account: StreamAccount;
  readonly zone: Zone;
  readonly onShow: (offset: number) => void;
}

/** The details of a stream: its position, its bytes by kind, and the reasons of rejected lines. */
export function StreamDetails({ host, account, zone, onShow }: StreamDetailsProps) {
  const { stream } = account;
  return (
    <div className="stream-grid">
      <section aria-label="Stream">
        <Title order={3}>Stream</Title>
        <StreamFacts account={account} zone={zone} />
        {mayReparseHelp(account) && (
          <ReparseButton request={{ stream_id: stream.id, is_outdated_only: false }} what={`${stream.spec}, ${stream.key}`} />
        )}
      </section>
      <section aria-label="All bytes">
        <Title order={3}>All bytes</Title>
        <Kinds account={account} />
      </section>
      <section aria-label="Rejected lines by reason" className="stream-reasons">
        <Title order={3}>Rejected lines by reason</Title>
        {stream.n_lines.rejected === 0 ? (
          <Text fz="sm" className="soft">
            No rejected lines: all output was parsed or is ignored by the spec.
          </Text>
        ) : (
          <Reasons host={host} account={account} zone={zone} onShow={onShow} />
        )}
      </section>
    </div>
  );
}

function StreamFacts({ account, zone }: { readonly account: StreamAccount; readonly zone: Zone }) {
  const { stream } = account;
  return (
    <dl className="facts">
      <dt>Key</dt>
      <dd className="mono">{stream.key}</dd>
      <dt>Command</dt>
      <dd className="mono">{stream.command === "" ? "unknown" : stream.command}</dd>
      <dt>Started</dt>
      <dd>
        <Instant at={fromApi(stream.created_at)} zone={zone} />
      </dd>
      <dt>Last received</dt>
      <dd>{stream.last_received_at === null ? "never" : <Instant at={fromApi(stream.last_received_at)} zone={zone} />}</dd>
      <dt>Acknowledged</dt>
      <dd>{`byte ${formatCount(stream.acked_offset)}`}</dd>
      <dt>Lost on the host</dt>
      <dd>{account.n_gaps === 0 ? "none" : `${formatBytes(stream.n_gap_bytes)} in ${counted(account.n_gaps, "gap")}`}</dd>
      <dt>Parsed with</dt>
      <dd>{describeVersion(account)}</dd>
      <dt>Stats</dt>
      <dd className="mono">{stream.stats.join(", ") || "nothing"}</dd>
    </dl>
  );
}

function Kinds({ account }: { readonly account: StreamAccount }) {
  return (
    <Table aria-label="Lines and bytes by kind" withRowBorders={false} verticalSpacing={2} w="auto">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Kind</Table.Th>
          <Table.Th className="number">Lines</Table.Th>
          <Table.Th className="number">Bytes</Table.Th>
          <Table.Th className="number">Share</Table.Th>
          <Table.Th>Meaning</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {kindRows(account.stream.n_lines, account.bytes_by_kind).map(({ key, label, help, n_lines, n_bytes, share }) => (
          <Table.Tr key={key}>
            <Table.Td>{label}</Table.Td>
            <Table.Td className="number">{formatCount(n_lines)}</Table.Td>
            <Table.Td className="number">{formatCount(n_bytes)}</Table.Td>
            <Table.Td className="number">{share}</Table.Td>
            <Table.Td className="soft">{help}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** The reasons, most frequent first; one of them is expanded to its lines. */
function Reasons({ host, account, zone, onShow }: StreamDetailsProps) {
  const [opened, setOpened] = useState<string | null>(account.reasons.length === 1 ? (account.reasons[0]?.reason ?? null) : null);
  const { stream, reasons, n_reasons } = account;
  return (
    <>
      {reasons.map((reason) => (
        <div key={reason.reason} className="reason">
          <ReasonHead
            reason={reason}
            zone={zone}
            isOpen={reason.reason === opened}
            onToggle={() => {
              setOpened(reason.reason === opened ? null : reason.reason);
            }}
          />
          {reason.reason === opened && (
            <ReasonLines host={host} streamId={stream.id} reason={reason.reason} zone={zone} onShow={onShow} />
          )}
        </div>
      ))}
      {n_reasons > reasons.length && (
        <Text fz="sm" className="soft">
          {`and ${counted(n_reasons - reasons.length, "more reason")} with fewer lines; see the Rejected lines tab.`}
        </Text>
      )}
    </>
  );
}

interface ReasonHeadProps {
  readonly reason: ReasonCount;
  readonly zone: Zone;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function ReasonHead({ reason, zone, isOpen, onToggle }: ReasonHeadProps) {
  return (
    <Group gap="sm" wrap="nowrap" align="baseline">
      <Button size="compact-xs" variant="default" aria-expanded={isOpen} onClick={onToggle} style={{ flex: "none" }}>
        {isOpen ? "Hide lines" : "Show lines"}
      </Button>
      <Text fz="sm" fw={600} style={{ flex: "none" }}>
        {formatReasonCount(reason.n)}
      </Text>
      <Text fz="sm" style={{ overflowWrap: "anywhere" }}>
        {reason.reason}{" "}
        <Text span fz="sm" className="soft">
          {nodes`last at ${<Instant at={fromApi(reason.last_at)} zone={zone} />}`}
        </Text>
      </Text>
    </Group>
  );
}
