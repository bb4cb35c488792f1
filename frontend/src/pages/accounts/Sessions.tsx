import { Badge, Button, Group, Stack, Table, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { endSession, endSessions, sessionsQuery } from "../../api/accounts";
import { Age, Instant } from "../../components/Instant";
import { ScrollCard } from "../../components/ScrollCard";
import { ErrorLine, PendingView, StateView } from "../../components/StateView";
import type { SessionInfo } from "../../logic/api";
import { fromApi, MINUTE } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { useNow } from "../../state/clock";

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
    return <PendingView query={list} what="Sessions" />;
  }
  const rows = list.data.sessions;
  const canEndAll = rows.some((row) => account !== null || !row.is_current);
  return (
    <Stack gap="md">
      <Text fz="sm" className="soft">
        {account === null
          ? "Where your account is logged in. If you do not recognise one of these, end it and change your password."
          : `Where ${account} is logged in. To keep the account out, disable it or set a new password.`}
      </Text>
      <ErrorLine error={ending.error ?? endingAll.error} />
      {rows.length === 0 ? (
        <StateView state={{ kind: "empty", title: "No sessions", next: "The account is not logged in anywhere." }} />
      ) : (
        <ScrollCard label="Sessions">
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
            {account === null ? "End all other sessions" : "End all sessions"}
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
    <Table aria-label="Sessions">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Browser</Table.Th>
          <Table.Th>Address</Table.Th>
          <Table.Th>Last seen</Table.Th>
          <Table.Th>Logged in</Table.Th>
          <Table.Th>Ends</Table.Th>
          <Table.Th />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={row.id}>
            <Table.Td>
              {row.browser === "" ? <span className="soft">unknown browser</span> : row.browser}
              {row.is_current && (
                <Badge ml={8} variant="light">
                  this one
                </Badge>
              )}
            </Table.Td>
            <Table.Td>{row.address === "" ? <span className="soft">unknown</span> : row.address}</Table.Td>
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
                  aria-label={`End the session of ${row.browser || "an unknown browser"}${row.address && `, ${row.address}`}`}
                  onClick={() => {
                    onEnd(row.id);
                  }}
                >
                  End
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
      return "by password";
    case "link":
      return "by one-time link";
    case "provider":
      return "by single sign-on";
    default:
      return "";
  }
}
