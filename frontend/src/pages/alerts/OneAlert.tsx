import { Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { alertQuery } from "../../api/alerts";
import { ApiError } from "../../api/client";
import { rulesQuery } from "../../api/watch";
import { EpisodeTable } from "../../components/EpisodeTable";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { formatCount } from "../../logic/number";
import type { Zone } from "../../logic/zone";
import type { Clock } from "../../state/url";
import { DEFAULT_WATCH_VIEW, encodeWatchView } from "../../state/watch";
import { words } from "../../words";
import { AlertTable } from "./AlertList";

interface OneAlertProps {
  readonly id: number;
  readonly zone: Zone;
  readonly clock: Clock;
}

/** An alert that a message led to: what was sent, and the episodes that it is about. */
export function OneAlert({ id, zone, clock }: OneAlertProps) {
  const alert = useQuery(alertQuery(id));
  const rules = useQuery(rulesQuery);
  const title = words.watch.alerts.alertNo(String(id));
  const isGone = alert.error instanceof ApiError && alert.error.status === 404;
  return (
    <Stack gap="sm">
      <Group gap="sm" align="baseline">
        <Title order={2} fz="md">
          {title}
        </Title>
        <PageLink to="/watch" search={encodeWatchView({ ...DEFAULT_WATCH_VIEW, clock, tab: "alerts" })} fz="sm">
          {words.watch.alerts.allAlerts}
        </PageLink>
      </Group>
      {isGone ? (
        <StateView
          state={{ kind: "empty", title: words.watch.alerts.noAlert(String(id)), next: words.watch.alerts.noAlertNext }}
        />
      ) : alert.data === undefined ? (
        <PendingView query={alert} what={title} />
      ) : (
        <>
          <ScrollCard label={title}>
            <AlertTable label={title} alerts={[alert.data]} zone={zone} clock={clock} />
          </ScrollCard>
          <Title order={2} fz="md">
            {words.watch.alerts.episodes}
          </Title>
          <ScrollCard label={words.watch.alerts.episodes}>
            <EpisodeTable
              label={words.watch.alerts.episodes}
              episodes={alert.data.episodes}
              of={new Map((rules.data?.rules ?? []).map(({ name, of }) => [name, of]))}
              zone={zone}
              clock={clock}
            />
          </ScrollCard>
          {alert.data.n_episodes > alert.data.episodes.length && (
            <Text fz="sm" className="soft">
              {words.watch.backtest.firstOf(formatCount(alert.data.episodes.length), formatCount(alert.data.n_episodes))}
            </Text>
          )}
        </>
      )}
    </Stack>
  );
}
