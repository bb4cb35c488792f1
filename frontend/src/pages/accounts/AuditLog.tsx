import { Anchor, Button, Checkbox, Group, Stack, Table, Text, TextInput } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { auditAddress, auditQuery } from "../../api/audit";
import { Instant } from "../../components/Instant";
import { ScrollCard } from "../../components/ScrollCard";
import { ErrorLine, PendingView } from "../../components/StateView";
import { useSettled } from "../../components/useSettled";
import type { AuditRecord } from "../../logic/api";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";

interface AuditLogProps {
  readonly zone: Zone;
  readonly filter: string;
  readonly onlyRefused: boolean;
  readonly onFilter: (change: { readonly filter?: string; readonly onlyRefused?: boolean }) => void;
}

/** Who did what, from where, newest first. */
export function AuditLog({ zone, filter, onlyRefused, onFilter }: AuditLogProps) {
  const wanted = { search: useSettled(filter), onlyRefused };
  const log = useInfiniteQuery(auditQuery(wanted));
  const entries = log.data?.pages.flatMap((page) => page.entries);
  return (
    <Stack gap="md">
      <Text fz="sm" className="soft">
        Who did what, from where: logins, refusals, every change, every export. Entries are only ever added.
      </Text>
      <Group gap="md" align="end">
        <TextInput
          label="Action, account, address or target"
          placeholder="such as delete_host, 10.0.0.7 or web1"
          value={filter}
          maxLength={200}
          onChange={(event) => {
            onFilter({ filter: event.currentTarget.value });
          }}
        />
        <Checkbox
          mb={8}
          label="Refused only"
          checked={onlyRefused}
          onChange={(event) => {
            onFilter({ onlyRefused: event.currentTarget.checked });
          }}
        />
        <Text fz="sm" mb={6}>
          <Anchor href={auditAddress(wanted, "csv")}>CSV</Anchor> ·{" "}
          <Anchor href={auditAddress(wanted, "jsonl")}>JSON lines</Anchor>
        </Text>
      </Group>
      {entries === undefined ? (
        <PendingView query={log} what="Audit log" />
      ) : entries.length === 0 ? (
        <Text>No entries match.</Text>
      ) : (
        <ScrollCard label="Audit log">
          <Table aria-label="Audit log">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Time</Table.Th>
                <Table.Th>Account</Table.Th>
                <Table.Th>From</Table.Th>
                <Table.Th>Action</Table.Th>
                <Table.Th>Target</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {entries.map((entry) => (
                <EntryRow key={entry.id} entry={entry} zone={zone} />
              ))}
            </Table.Tbody>
          </Table>
        </ScrollCard>
      )}
      <ErrorLine error={log.isFetchNextPageError ? log.error : null} />
      {log.hasNextPage && (
        <Group>
          <Button variant="default" loading={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
            Show older entries
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function EntryRow({ entry, zone }: { readonly entry: AuditRecord; readonly zone: Zone }) {
  return (
    <Table.Tr>
      <Table.Td>
        <Instant at={fromApi(entry.at)} zone={zone} />
      </Table.Td>
      <Table.Td>
        {entry.account === null ? <span className="soft">no account</span> : <bdi>{entry.account}</bdi>}
        <span className="soft"> {meansOf(entry)}</span>
      </Table.Td>
      <Table.Td>{entry.address}</Table.Td>
      <Table.Td>
        <code>{entry.action}</code>
        {entry.is_refused && <strong> refused</strong>}
      </Table.Td>
      <Table.Td>
        {Object.entries(entry.target).map(([key, value]) => (
          <div key={key} style={{ overflowWrap: "anywhere" }}>
            <span className="soft">{key}</span> <bdi>{value}</bdi>
          </div>
        ))}
      </Table.Td>
    </Table.Tr>
  );
}

/** Return how it was proved who it was, where that is not the browser. */
function meansOf(entry: AuditRecord): string {
  switch (entry.means) {
    case "api_token":
      return `with API token ${String(entry.token_id ?? 0)}`;
    case "join_token":
      return `with join token ${String(entry.token_id ?? 0)}`;
    case "command":
      return "command line";
    case "link":
      return "with a link";
    case "session":
    case "none":
      return "";
  }
}
