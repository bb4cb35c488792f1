import { Group, Tabs, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useMemo } from "react";
import { watchQuery } from "../../api/watch";
import { IgnoredNote } from "../../components/IgnoredNote";
import { useMe } from "../../components/me";
import { StateView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import { describeWatched } from "../../logic/watch";
import { decodeWatchView, encodeWatchView, type WatchTab, type WatchView } from "../../state/watch";
import { FleetUseTable } from "./FleetUseTable";
import { MuteList } from "./MuteList";
import { RuleTable } from "./RuleTable";
import { WatchTimeline } from "./WatchTimeline";

// Who looks at rules needs no forms.
const AlertsTab = lazy(() => import("../alerts/AlertsTab").then((module) => ({ default: module.AlertsTab })));
const WebhooksTab = lazy(() => import("../alerts/WebhooksTab").then((module) => ({ default: module.WebhooksTab })));

/** The rules that watch the hosts, what mutes them, whom they tell, and what they found over time. */
export function WatchPage() {
  useDocumentTitle("Rules and alerts · normstat");
  const search = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeWatchView(search), [search]);
  const me = useMe();
  const navigate = useNavigate();
  const watch = useQuery(watchQuery);
  const zone = useZone(view.clock);
  const change = (changed: Partial<WatchView>) => {
    void navigate({ to: "/rules", search: encodeWatchView({ ...view, alert: null, webhook: null, ...changed }), replace: true });
  };
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Group gap="sm" mb="sm" align="baseline">
        <Title order={1}>Rules and alerts</Title>
        {watch.data && (
          <Text fz="sm" className="soft">
            {describeWatched(watch.data.summary)}
          </Text>
        )}
      </Group>
      <Tabs
        value={view.tab}
        keepMounted={false}
        onChange={(tab) => {
          change({ tab: (tab ?? "rules") as WatchTab });
        }}
      >
        <Tabs.List mb="sm">
          <Tabs.Tab value="rules">Rules</Tabs.Tab>
          <Tabs.Tab value="mutes">Mutes</Tabs.Tab>
          <Tabs.Tab value="alerts">Alerts</Tabs.Tab>
          {!me.is_limited && <Tabs.Tab value="webhooks">Webhooks</Tabs.Tab>}
          <Tabs.Tab value="timeline">Timeline</Tabs.Tab>
          <Tabs.Tab value="use">USE</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="timeline">
          <WatchTimeline view={view} zone={zone} onView={change} />
        </Tabs.Panel>
        <Tabs.Panel value="use">
          <FleetUseTable clock={view.clock} />
        </Tabs.Panel>
        <Tabs.Panel value="mutes">
          <MuteList zone={zone} />
        </Tabs.Panel>
        <Tabs.Panel value="alerts">
          <Suspense fallback={<StateView state={{ kind: "loading", what: "the alerts" }} />}>
            <AlertsTab zone={zone} clock={view.clock} alert={view.alert} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="webhooks">
          <Suspense fallback={<StateView state={{ kind: "loading", what: "the webhooks" }} />}>
            <WebhooksTab zone={zone} clock={view.clock} webhook={view.webhook} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="rules">
          <RuleTable clock={view.clock} />
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}
