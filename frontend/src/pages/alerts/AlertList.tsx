import { api } from "../../api/client";
import { Button, Table, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { alertsQuery } from "../../api/alerts";
import { ColourBadge } from "../../components/ColourBadge";
import { Instant } from "../../components/Instant";
import { mayWrite, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { ErrorLine, PendingView, StateView } from "../../components/StateView";
import { describeAlertState, describeMessageKind, describeMessageState } from "../../logic/alert";
import type { AlertInfo, AlertMessageInfo } from "../../logic/api";
import { formatCount } from "../../logic/number";
import { fromApi } from "../../logic/time";
import { toColour } from "../../logic/watch";
import type { Zone } from "../../logic/zone";
import type { Clock } from "../../state/url";
import { DEFAULT_WATCH_VIEW, encodeWatchView } from "../../state/watch";
import { encodeClock } from "../../state/zone_choice";
import { counted } from "../../logic/counted";
import { nodes } from "../../components/nodes";
import { episodeLink } from "../../components/episodeLink";

const STEP = 10;
const MAX = 500;

interface AlertListProps {
  readonly zone: Zone;
  readonly clock: Clock;
  readonly hasRoutes: boolean;
}

/** What was sent, the latest first: to whom, whether it arrived, and what the receiver said. */
export function AlertList({ zone, clock, hasRoutes }: AlertListProps) {
  const [limit, setLimit] = useState(STEP);
  const alerts = useQuery(alertsQuery(limit));
  const n = alerts.data?.n_total ?? 0;
  return (
    <section>
      <Title order={2} fz="md" mb="xs">
        Sent
      </Title>
      <ScrollCard label="Sent">
        {alerts.data === undefined ? (
          <PendingView isCompact query={alerts} what="the alerts" />
        ) : n === 0 ? (
          <StateView
            isCompact
            state={{
              kind: "empty",
              title: "Nothing sent yet",
              next: hasRoutes
                ? "Messages appear here with the answers of their receivers."
                : "Messages appear here once a route sends.",
            }}
          />
        ) : (
          <AlertTable isLinked label="Sent" alerts={alerts.data.alerts} zone={zone} clock={clock} />
        )}
      </ScrollCard>
      {n > limit && limit < MAX && (
        <Button
          mt="xs"
          size="compact-sm"
          variant="default"
          onClick={() => {
            setLimit(limit + STEP);
          }}
        >
          {`Show more (${formatCount(limit)} of ${formatCount(n)})`}
        </Button>
      )}
    </section>
  );
}

interface AlertTableProps {
  readonly label: string;
  readonly alerts: readonly AlertInfo[];
  /** Whether each alert has a link to its own page. */
  readonly isLinked?: boolean;
  readonly zone: Zone;
  readonly clock: Clock;
}

/** Alerts with their messages. */
export function AlertTable({ label, alerts, isLinked = false, zone, clock }: AlertTableProps) {
  return (
    <Table aria-label={label} className="alerts-table">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Since</Table.Th>
          <Table.Th>State</Table.Th>
          <Table.Th>What it is</Table.Th>
          <Table.Th>Route</Table.Th>
          <Table.Th>Messages</Table.Th>
          <Table.Th />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {alerts.map((alert) => (
          <AlertRow key={alert.id} alert={alert} isLinked={isLinked} zone={zone} clock={clock} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

interface AlertRowProps {
  readonly alert: AlertInfo;
  readonly isLinked: boolean;
  readonly zone: Zone;
  readonly clock: Clock;
}

function AlertRow({ alert, isLinked, zone, clock }: AlertRowProps) {
  const me = useMe();
  const client = useQueryClient();
  const renew = () => Promise.all([["alerts"], ["watch"]].map((queryKey) => client.invalidateQueries({ queryKey })));
  const isAcknowledged = alert.acknowledged_at !== null;
  const acknowledging = useMutation({
    mutationFn: () =>
      isAcknowledged
        ? api.DELETE("/alerts/{id}/acknowledge", { params: { path: { id: alert.id } } })
        : api.POST("/alerts/{id}/acknowledge", { body: { note: "" }, params: { path: { id: alert.id } } }),
    onSuccess: renew,
  });
  const about = `${alert.hosts.join(", ")} ${alert.title}`;
  const [worst] = alert.episodes;
  const host = worst?.host ?? alert.hosts[0] ?? null;
  const isOpen = alert.state === "waiting" || alert.state === "firing";
  return (
    <Table.Tr>
      <Table.Td>
        <Instant at={fromApi(alert.start)} zone={zone} />
        {isLinked && (
          <PageLink
            to="/rules"
            search={encodeWatchView({ ...DEFAULT_WATCH_VIEW, clock, tab: "alerts", alert: alert.id })}
            display="block"
            fz="sm"
          >
            {`Alert ${String(alert.id)}`}
          </PageLink>
        )}
      </Table.Td>
      <Table.Td>
        <ColourBadge colour={toColour(alert.colour)} />
        <Text fz="sm">{describeAlertState(alert.state)}</Text>
      </Table.Td>
      <Table.Td>
        {host === null ? (
          <b>normstat</b>
        ) : (
          <PageLink
            to="/hosts/$host"
            params={{ host }}
            search={worst === undefined ? encodeClock(clock) : episodeLink(worst, clock)}
            fw={600}
          >
            {alert.hosts.length > 1 ? `${host} and ${String(alert.hosts.length - 1)} more` : host}
          </PageLink>
        )}
        <Text fz="sm">
          {alert.title}
          {alert.n_episodes > 1 && ` (${counted(alert.n_episodes, "episode")})`}
        </Text>
        {alert.acknowledged_at !== null && (
          <Text fz="sm" className="soft">
            {`acknowledged by ${alert.acknowledged_by}`}
          </Text>
        )}
        {alert.silenced_at !== null && (
          <Text fz="sm" className="soft">
            {nodes`muted by its link at ${<Instant at={fromApi(alert.silenced_at)} zone={zone} />}`}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{alert.route}</Table.Td>
      <Table.Td>
        <ul className="alerts-messages">
          {alert.messages.map((message) => (
            <MessageLine key={message.id} message={message} zone={zone} />
          ))}
        </ul>
        {alert.messages.length === 0 && <span className="soft">none yet</span>}
      </Table.Td>
      <Table.Td>
        {isOpen && mayWrite(me) && (
          <Button
            size="compact-sm"
            variant="default"
            loading={acknowledging.isPending}
            aria-label={isAcknowledged ? `Take back the acknowledgement of ${about}` : `Acknowledge ${about}`}
            onClick={() => {
              acknowledging.mutate();
            }}
          >
            {isAcknowledged ? "Take back" : "Acknowledge"}
          </Button>
        )}
        <ErrorLine error={acknowledging.error} />
      </Table.Td>
    </Table.Tr>
  );
}

function MessageLine({ message, zone }: { readonly message: AlertMessageInfo; readonly zone: Zone }) {
  const me = useMe();
  const client = useQueryClient();
  const retrying = useMutation({
    mutationFn: () => api.POST("/alert-messages/{id}/retry", { params: { path: { id: message.id } } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["alerts"] }),
  });
  const { channel, kind, state, n_tries, answer, sent_at, next_try_at } = message;
  const hasFailed = state === "failed";
  return (
    <li>
      <Text fz="sm" component="div">
        {describeMessageKind(kind)} → {channel}:{" "}
        <span className={hasFailed ? "alerts-failed" : undefined}>
          {describeMessageState(state)}
          {n_tries > 1 && ` (${counted(n_tries, "attempt")})`}
        </span>
        {sent_at !== null && (
          <>
            {" "}
            <Instant at={fromApi(sent_at)} zone={zone} />
          </>
        )}
        {state === "queued" && n_tries > 0 && next_try_at !== null && (
          <>{nodes`, next attempt ${<Instant at={fromApi(next_try_at)} zone={zone} />}`}</>
        )}{" "}
        {hasFailed && mayWrite(me) && (
          <Button
            size="compact-xs"
            variant="default"
            loading={retrying.isPending}
            aria-label={`Send again to ${channel}`}
            onClick={() => {
              retrying.mutate();
            }}
          >
            Send again
          </Button>
        )}
      </Text>
      {answer !== "" && state !== "sent" && (
        <Text fz="xs" className="soft" style={{ overflowWrap: "anywhere" }}>
          {answer}
        </Text>
      )}
      <ErrorLine error={retrying.error} />
    </li>
  );
}
