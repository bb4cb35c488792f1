import { Button, Group, Tabs, Text, Title, useComputedColorScheme } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { ApiError } from "../../api/client";
import { hostQuery, hostStatsQuery } from "../../api/queries";
import { IgnoredNote } from "../../components/IgnoredNote";
import { Instant } from "../../components/Instant";
import { StateBadge } from "../../components/StateBadge";
import { PendingView, StateView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import type { HostDetail, HostInfo, StatInfo, StatList } from "../../logic/api";
import { describeClockOffset } from "../../logic/host";
import { formatCount } from "../../logic/number";
import { DEFAULT_RANGE, openingRange } from "../../logic/range";
import { type EpochMs, fromApi } from "../../logic/time";
import { formatInstant, type Zone } from "../../logic/zone";
import { readNow } from "../../state/clock";
import { HOST_TABS, type HostTab } from "../../state/url";
import { FillingUp } from "./FillingUp";
import { Graphs } from "./Graphs";
import { HostTags } from "./HostTags";
import { NormalChanges } from "./NormalChanges";
import { type HostViewState, useHostView } from "./useHostView";
import { counted } from "../../logic/counted";
import { nodes } from "../../components/nodes";
import "./HostPage.css";

// The graphs need none of these.
const UseTab = lazy(() => import("./UseTab").then((module) => ({ default: module.UseTab })));
const Processes = lazy(() => import("./Processes").then((module) => ({ default: module.Processes })));
const ArtefactTab = lazy(() => import("./ArtefactTab").then((module) => ({ default: module.ArtefactTab })));
const EventTab = lazy(() => import("./EventTab").then((module) => ({ default: module.EventTab })));
const Facts = lazy(() => import("./Facts").then((module) => ({ default: module.Facts })));
const RejectedLines = lazy(() => import("./RejectedLines").then((module) => ({ default: module.RejectedLines })));
const Streams = lazy(() => import("./Streams").then((module) => ({ default: module.Streams })));
const LOADING = <StateView state={{ kind: "loading" }} />;

/** One host: its graphs, its streams and their rejected lines. */
export function HostPage() {
  const { host } = useParams({ from: "/shell/hosts/$host" });
  useDocumentTitle(`${host} · normstat`);
  const state = useHostView(host);
  const detail = useQuery(hostQuery(host));
  const stats = useQuery(hostStatsQuery(host));
  useNewStats(detail.data, stats);
  const error = detail.error ?? stats.error;
  if (detail.data !== undefined && stats.data !== undefined) {
    return <Host key={host} detail={detail.data} stats={stats.data.stats} state={state} />;
  }
  return (
    <div className="page">
      {error instanceof ApiError && error.status === 404 ? (
        <StateView state={{ kind: "empty", title: `Host ${host} not found`, next: "Check the name in the list of hosts." }} />
      ) : (
        <PendingView query={{ error, refetch: () => Promise.all([detail.refetch(), stats.refetch()]) }} what={host} />
      )}
    </div>
  );
}

/** Fetch the host's stats again when it begins to send others. */
function useNewStats(detail: HostDetail | undefined, stats: UseQueryResult<StatList>): void {
  const { data, refetch } = stats;
  const known = new Set(data?.stats.map(({ name }) => name));
  const missing = data === undefined ? "" : (detail?.host.stats.filter((name) => !known.has(name)).join(" ") ?? "");
  useEffect(() => {
    if (missing !== "") {
      void refetch();
    }
  }, [missing, refetch]);
}

interface HostProps {
  readonly detail: HostDetail;
  readonly stats: readonly StatInfo[];
  readonly state: HostViewState;
}

function Host({ detail, stats, state: stateOfUrl }: HostProps) {
  const { host } = detail;
  const { state, isOnLastSamples } = useOpening(host, stateOfUrl);
  const { view } = state;
  const zone = useZone(view.clock);
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const show = (tab: HostTab): void => {
    state.set({ tab, streamId: null, place: null, process: null });
  };
  return (
    <div className="page host-page">
      <IgnoredNote ignored={state.ignored} />
      <Tabs
        variant="default"
        keepMounted={false}
        value={placeOf(view.tab).key}
        onChange={(key) => {
          show((HOST_PLACES.find((place) => place.key === key) ?? HOST_PLACES[0]).tabs[0]);
        }}
      >
        <Group
          justify="space-between"
          align="center"
          gap="0 10px"
          className="host-head"
          hidden={view.fullPanel !== null && view.tab === "graphs"}
        >
          <HostTitle host={host} zone={zone} />
          <Tabs.List>
            {HOST_PLACES.map(({ key, label }) => (
              <Tabs.Tab key={key} value={key} {...(key === "about" && host.n_rejected > 0 ? { c: "var(--bad)" } : {})}>
                {label}
              </Tabs.Tab>
            ))}
          </Tabs.List>
        </Group>
        <Tabs.Panel value="graphs">
          {isOnLastSamples && (
            <LastSamplesNote
              host={host}
              zone={zone}
              onLive={() => {
                state.set({ range: DEFAULT_RANGE });
              }}
            />
          )}
          {view.fullPanel === null && <FillingUp host={host.name} clock={view.clock} />}
          {view.fullPanel === null && <NormalChanges host={host.name} zone={zone} clock={view.clock} />}
          <Graphs host={host} stats={stats} state={state} zone={zone} scheme={scheme} />
        </Tabs.Panel>
        <Tabs.Panel value="use" pt="sm">
          <Suspense fallback={LOADING}>
            <UseTab host={host} state={state} zone={zone} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="processes" pt="sm">
          <Suspense fallback={LOADING}>
            <Processes host={host} stats={stats} state={state} zone={zone} scheme={scheme} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="evidence">
          <PartTabs tab={view.tab} labels={{ events: "Events", artefacts: "Artefacts" }} onShow={show}>
            {view.tab === "events" ? (
              <EventTab host={host.name} zone={zone} clock={view.clock} />
            ) : (
              <ArtefactTab host={host} state={state} zone={zone} />
            )}
          </PartTabs>
        </Tabs.Panel>
        <Tabs.Panel value="about">
          <PartTabs
            tab={view.tab}
            labels={{
              facts: "Facts",
              streams: `Streams ${formatCount(host.n_streams_live)}/${formatCount(host.n_streams)}`,
              rejected: counted(host.n_rejected, "rejected line"),
            }}
            onShow={show}
          >
            {view.tab === "facts" ? (
              <Facts host={host.name} zone={zone} clock={view.clock} />
            ) : view.tab === "streams" ? (
              <Streams host={host.name} zone={zone} state={state} />
            ) : (
              <RejectedLines
                host={host.name}
                streams={detail.streams}
                streamId={view.streamId}
                zone={zone}
                place={view.place}
                onStream={(streamId) => {
                  state.set({ streamId });
                }}
                onShow={(place) => {
                  state.set({ place });
                }}
              />
            )}
          </PartTabs>
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}

/** The places of a host's page, each with its tabs in the link. */
const HOST_PLACES = [
  { key: "graphs", label: "Graphs", tabs: ["graphs"] },
  { key: "use", label: "USE", tabs: ["use"] },
  { key: "processes", label: "Processes", tabs: ["processes"] },
  { key: "evidence", label: "Evidence", tabs: ["events", "artefacts"] },
  { key: "about", label: "About", tabs: ["facts", "streams", "rejected"] },
] as const;

function placeOf(tab: HostTab) {
  return HOST_PLACES.find(({ tabs }) => tabs.some((own) => own === tab)) ?? HOST_PLACES[0];
}

interface PartTabsProps {
  readonly tab: HostTab;
  readonly labels: Readonly<Partial<Record<HostTab, string>>>;
  readonly onShow: (tab: HostTab) => void;
  readonly children: ReactNode;
}

/** The tabs of a place that has several. */
function PartTabs({ tab, labels, onShow, children }: PartTabsProps) {
  return (
    <Tabs
      value={tab}
      variant="pills"
      onChange={(next) => {
        onShow(HOST_TABS.find((known) => known === next) ?? tab);
      }}
    >
      <Tabs.List my={8}>
        {Object.entries(labels).map(([value, label]) => (
          <Tabs.Tab key={value} value={value}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {Object.keys(labels).map((value) => (
        <Tabs.Panel key={value} value={value}>
          {value === tab && <Suspense fallback={LOADING}>{children}</Suspense>}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

/** Return the state of a host's page that opens where the host's samples are, if the link names no range. */
function useOpening(host: HostInfo, state: HostViewState): { readonly state: HostViewState; readonly isOnLastSamples: boolean } {
  const [range] = useState(() =>
    openingRange(sampleTime(host.first_sample_at), sampleTime(host.last_sample_at), readNow(), host.n_streams_live > 0),
  );
  if (range === null || state.hasRange) {
    return { state, isOnLastSamples: false };
  }
  return {
    state: {
      ...state,
      view: { ...state.view, range },
      set: (change) => {
        state.set({ range, ...change });
      },
    },
    isOnLastSamples: range.kind === "fixed",
  };
}

function sampleTime(at: string | null): EpochMs | null {
  return at === null ? null : fromApi(at);
}

interface LastSamplesNoteProps {
  readonly host: HostInfo;
  readonly zone: Zone;
  readonly onLive: () => void;
}

/** States that the page shows the past, and why. */
function LastSamplesNote({ host, zone, onLive }: LastSamplesNoteProps) {
  const last = sampleTime(host.last_sample_at);
  return last === null ? null : (
    <Group gap="sm" my={8} role="note">
      <Text fz="sm">{nodes`No samples since ${<Instant at={last} zone={zone} />}. The graphs show the last ones.`}</Text>
      <Button size="compact-xs" variant="default" onClick={onLive}>
        Go live
      </Button>
    </Group>
  );
}

/** The name and state in one line; the system, the last sample and the clock are in its tooltip, and on the tab Facts. */
function HostTitle({ host, zone }: { readonly host: HostInfo; readonly zone: Zone }) {
  const details = [
    host.os,
    ...(host.last_sample_at === null ? [] : [`last sample ${formatInstant(zone, fromApi(host.last_sample_at))}`]),
    ...(host.clock_offset_s === null ? [] : [`clock ${describeClockOffset(host.clock_offset_s)}`]),
  ].join(" · ");
  return (
    <div className="host-title">
      <Title order={1}>{host.name}</Title>
      <StateBadge state={host.state} />
      <span className="soft host-details" title={details}>
        {details}
      </span>
      <HostTags host={host} />
    </div>
  );
}
