import { Badge, Button, Group, Stack, Table, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { endSession, endSessions, sessionsQuery } from "../../api/sessions";
import { Age, Instant } from "../../components/Instant";
import { ScrollCard } from "../../components/ScrollCard";
import { ErrorLine, PendingView, StateView } from "../../components/StateView";
import type { SessionInfo } from "../../logic/api";
import { fromApi, MINUTE } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { useNow } from "../../state/clock";
import { words } from "../../words";

interface SessionsProps {
  /** Null: one's own. */
  readonly account: string | null;
  readonly zone: Zone;
}

/** Where an account is logged in; each session can be ended, or all (of one's own: all others). */
export function Sessions({ account, zone }: SessionsProps) {
  const client = useQueryClient();
  const query = sessionsQuery(account);
  const list = useQuery(query);
  const renew = () => client.invalidateQueries({ queryKey: query.queryKey });
  const ending = useMutation({ mutationFn: (id: number) => endSession(account, id), onSettled: renew });
  const endingAll = useMutation({ mutationFn: () => endSessions(account), onSettled: renew });
  if (list.data === undefined) {
    return <PendingView query={list} what={words.sessions.sessions} />;
  }
  const rows = list.data.sessions;
  const canEndAll = rows.some((row) => account !== null || !row.is_current);
  return (
    <Stack gap="md">
      <Text fz="sm" className="soft">
        {account === null ? words.sessions.help : words.sessions.helpOf(account)}
      </Text>
      <ErrorLine error={ending.error ?? endingAll.error} />
      {rows.length === 0 ? (
        <StateView state={{ kind: "empty", title: words.sessions.none, next: words.sessions.noneNext }} />
      ) : (
        <ScrollCard label={words.sessions.sessions}>
          <SessionTable
            rows={rows}
            zone={zone}
            canEndCurrent={account !== null}
            onEnd={(id) => {
              ending.mutate(id);
            }}
          />
        </ScrollCard>
      )}
      {canEndAll && (
        <Group>
          <Button
            variant="default"
            loading={endingAll.isPending}
            onClick={() => {
              endingAll.mutate();
            }}
          >
            {account === null ? words.sessions.endOthers : words.sessions.endAll}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

interface SessionTableProps {
  readonly rows: readonly SessionInfo[];
  readonly zone: Zone;
  readonly canEndCurrent: boolean;
  readonly onEnd: (id: number) => void;
}

function SessionTable({ rows, zone, canEndCurrent, onEnd }: SessionTableProps) {
  const now = useNow(MINUTE);
  return (
    <Table aria-label={words.sessions.sessions}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{words.sessions.browser}</Table.Th>
          <Table.Th>{words.sessions.address}</Table.Th>
          <Table.Th>{words.sessions.lastSeen}</Table.Th>
          <Table.Th>{words.sessions.loggedIn}</Table.Th>
          <Table.Th>{words.sessions.ends}</Table.Th>
          <Table.Th />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={row.id}>
            <Table.Td>
              {row.browser === "" ? <span className="soft">{words.sessions.unknownBrowser}</span> : row.browser}
              {row.is_current && (
                <Badge ml={8} variant="light">
                  {words.sessions.current}
                </Badge>
              )}
            </Table.Td>
            <Table.Td>{row.address === "" ? <span className="soft">{words.common.unknown}</span> : row.address}</Table.Td>
            <Table.Td>
              <Age at={fromApi(row.last_seen_at)} now={now} zone={zone} />
            </Table.Td>
            <Table.Td>
              <Instant at={fromApi(row.created_at)} zone={zone} />
              <span className="soft"> {meansOf(row)}</span>
            </Table.Td>
            <Table.Td>
              <Instant at={fromApi(row.expires_at)} zone={zone} />
            </Table.Td>
            <Table.Td className="number">
              {(canEndCurrent || !row.is_current) && (
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={words.sessions.endOf(row.browser, row.address)}
                  onClick={() => {
                    onEnd(row.id);
                  }}
                >
                  {words.sessions.end}
                </Button>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** Return how the account proved who it is; "" of a session that an earlier version opened. */
function meansOf(row: SessionInfo): string {
  switch (row.means) {
    case "password":
      return words.sessions.byPassword;
    case "link":
      return words.sessions.byLink;
    case "provider":
      return words.sessions.byProvider;
    default:
      return "";
  }
}
