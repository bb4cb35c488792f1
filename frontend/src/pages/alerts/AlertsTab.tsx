import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { channelsQuery, routesQuery } from "../../api/alerts";
import { useMe } from "../../components/me";
import { PendingView } from "../../components/StateView";
import type { Zone } from "../../logic/zone";
import type { Clock } from "../../state/url";
import { AlertList } from "./AlertList";
import { ChannelList } from "./ChannelList";
import { OneAlert } from "./OneAlert";
import { RouteList } from "./RouteList";
import "./alerts.css";

interface AlertsTabProps {
  readonly zone: Zone;
  readonly clock: Clock;
  /** The alert to show alone; null for all. */
  readonly alert: number | null;
}

/** One alert, or all of them with what sends them. */
export function AlertsTab({ zone, clock, alert }: AlertsTabProps) {
  const me = useMe();
  if (alert !== null) {
    return <OneAlert id={alert} zone={zone} clock={clock} />;
  }
  // Routes and channels are of all hosts.
  return me.is_limited ? <AlertList zone={zone} clock={clock} hasRoutes /> : <AllAlerts zone={zone} clock={clock} />;
}

/** Who hears of what is found: the messages that were sent, the routes that decide, and the channels that carry them. */
function AllAlerts({ zone, clock }: Omit<AlertsTabProps, "alert">) {
  const channels = useQuery(channelsQuery);
  const routes = useQuery(routesQuery);
  const error = channels.error ?? routes.error;
  if (channels.data === undefined || routes.data === undefined) {
    return (
      <PendingView query={{ error, refetch: () => Promise.all([channels.refetch(), routes.refetch()]) }} what="the alerts" />
    );
  }
  const sends = routes.data.routes.some(({ is_enabled }) => is_enabled);
  return (
    <Stack gap="lg">
      <Text fz="sm" className="soft" maw={860}>
        A route says which episodes become messages and to whom; a channel delivers them. What is muted sends nothing; what is
        acknowledged is not repeated.
      </Text>
      {!sends && (
        <div role="note" className="card alerts-note">
          <Text fz="sm">
            {channels.data.channels.length === 0
              ? "No notifications are configured. Add a channel and test it, then add a route that sends to it."
              : "No route sends anything. Add or enable one: it says which episodes go to which channel."}
          </Text>
        </div>
      )}
      <AlertList zone={zone} clock={clock} hasRoutes={sends} />
      <RouteList routes={routes.data.routes} channels={channels.data.channels} zone={zone} />
      <ChannelList channels={channels.data} zone={zone} />
    </Stack>
  );
}
