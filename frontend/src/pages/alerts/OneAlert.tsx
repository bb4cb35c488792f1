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
  const title = `Alert ${String(id)}`;
  const isGone = alert.error instanceof ApiError && alert.error.status === 404;
  return (
    <Stack gap="sm">
      <Group gap="sm" align="baseline">
        <Title order={2} fz="md">
          {title}
        </Title>
        <PageLink to="/rules" search={encodeWatchView({ ...DEFAULT_WATCH_VIEW, clock, tab: "alerts" })} fz="sm">
          All alerts
        </PageLink>
      </Group>
      {isGone ? (
        <StateView
          state={{
            kind: "empty",
            title: `There is no alert ${String(id)}`,
            next: "Alerts are deleted some time after they end.",
          }}
        />
      ) : alert.data === undefined ? (
        <PendingView query={alert} what={title} />
      ) : (
        <>
          <ScrollCard label={title}>
            <AlertTable label={title} alerts={[alert.data]} zone={zone} clock={clock} />
          </ScrollCard>
          <Title order={2} fz="md">
            Episodes
          </Title>
          <ScrollCard label="Episodes">
            <EpisodeTable
              label="Episodes"
              episodes={alert.data.episodes}
              of={new Map((rules.data?.rules ?? []).map(({ name, of }) => [name, of]))}
              zone={zone}
              clock={clock}
            />
          </ScrollCard>
          {alert.data.n_episodes > alert.data.episodes.length && (
            <Text fz="sm" className="soft">
              {`The first ${formatCount(alert.data.episodes.length)} of ${formatCount(alert.data.n_episodes)}.`}
            </Text>
          )}
        </>
      )}
    </Stack>
  );
}
