import { Button, Group, Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { accountsQuery } from "../../api/queries";
import { LineContext } from "../../components/LineContext";
import { mayWrite, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { ReparseButton } from "../../components/ReparseButton";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import type { HostAccounts, StreamAccount } from "../../logic/api";
import { formatCount } from "../../logic/number";
import { describeAccounts, FILTER_LABELS, STREAM_FILTERS, type StreamFilter } from "../../logic/stream";
import type { Zone } from "../../logic/zone";
import { type Clock, encodeImportsView } from "../../state/url";
import { StreamTable } from "./StreamTable";
import type { HostViewState } from "./useHostView";
import { counted } from "../../logic/counted";

const FIRST_LIMIT = 100;
const MAX_LIMIT = 500;

interface StreamsProps {
  readonly host: string;
  readonly zone: Zone;
  readonly state: HostViewState;
}

/** The streams of a host, each with its lines by kind. */
export function Streams({ host, zone, state }: StreamsProps) {
  const { view, set } = state;
  const { filter, streamId, place } = view;
  const [limit, setLimit] = useState(FIRST_LIMIT);
  const accounts = useQuery(accountsQuery({ host, only: filter === "all" ? null : filter, streamId: null, limit }));
  const listed = accounts.data?.streams ?? [];
  // A link may name a stream that is not among the newest or does not match the filter.
  const isElsewhere = streamId !== null && accounts.data !== undefined && !listed.some(({ stream }) => stream.id === streamId);
  const other = useQuery({ ...accountsQuery({ host, only: null, streamId, limit: 1 }), enabled: isElsewhere });
  const shown: readonly StreamAccount[] = isElsewhere ? [...(other.data?.streams ?? []), ...listed] : listed;

  if (accounts.data === undefined) {
    return <PendingView query={accounts} what="streams" />;
  }
  return (
    <>
      <StreamsHead
        accounts={accounts.data}
        filter={filter}
        clock={view.clock}
        onFilter={(next) => {
          set({ filter: next, streamId: null });
        }}
      />
      {isElsewhere && other.data?.streams.length === 0 && (
        <Text fz="sm" mb="xs" role="status">
          {`${host} has no stream ${String(streamId)}; it may have been deleted.`}
        </Text>
      )}
      {shown.length === 0 ? (
        <NoStreams
          accounts={accounts.data}
          filter={filter}
          onAll={() => {
            set({ filter: "all" });
          }}
        />
      ) : (
        <ScrollCard label="Streams">
          <StreamTable
            host={host}
            streams={shown}
            openId={streamId}
            zone={zone}
            onOpen={(id) => {
              set({ streamId: id });
            }}
            onShow={(id, offset) => {
              set({ place: { streamId: id, offset } });
            }}
          />
        </ScrollCard>
      )}
      {accounts.data.n_matching > listed.length && (
        <Group mt="sm" gap="sm">
          <Text fz="sm" className="soft">
            {`The ${formatCount(listed.length)} most recently active of ${counted(accounts.data.n_matching, "stream")}.`}
          </Text>
          {limit < MAX_LIMIT && (
            <Button
              variant="default"
              onClick={() => {
                setLimit(MAX_LIMIT);
              }}
            >
              {`Show up to ${formatCount(MAX_LIMIT)}`}
            </Button>
          )}
        </Group>
      )}
      {place !== null && (
        <LineContext
          streamId={place.streamId}
          offset={place.offset}
          onClose={() => {
            set({ place: null });
          }}
        />
      )}
    </>
  );
}

interface StreamsHeadProps {
  readonly accounts: HostAccounts;
  readonly filter: StreamFilter;
  readonly clock: Clock;
  readonly onFilter: (filter: StreamFilter) => void;
}

/** The totals, the filter, and a button to reparse outdated streams. */
function StreamsHead({ accounts, filter, clock, onFilter }: StreamsHeadProps) {
  const me = useMe();
  const { host, n_streams_outdated } = accounts;
  return (
    <>
      <Group justify="space-between" mb="xs">
        <Group gap="md">
          <Text fz="sm">{describeAccounts(accounts)}</Text>
          {mayWrite(me) && (
            <PageLink to="/imports" search={encodeImportsView({ clock, host, importId: null })} fz="sm">
              {`Import files of ${host}`}
            </PageLink>
          )}
        </Group>
        <Select
          size="xs"
          w={190}
          aria-label="Filter streams"
          allowDeselect={false}
          data={STREAM_FILTERS.map((value) => ({ value, label: FILTER_LABELS[value] }))}
          value={filter}
          onChange={(value) => {
            onFilter(STREAM_FILTERS.find((known) => known === value) ?? "all");
          }}
        />
      </Group>
      {n_streams_outdated > 0 && (
        <Group mb="xs" gap="sm">
          <Text fz="sm">
            {n_streams_outdated === 1
              ? "One stream was parsed with another version of its spec."
              : `${formatCount(n_streams_outdated)} streams were parsed with other versions of their specs.`}
          </Text>
          <ReparseButton request={{ host, is_outdated_only: true }} what={`outdated streams of ${host}`} label="Reparse" />
        </Group>
      )}
    </>
  );
}

interface NoStreamsProps {
  readonly accounts: HostAccounts;
  readonly filter: StreamFilter;
  readonly onAll: () => void;
}

function NoStreams({ accounts, filter, onAll }: NoStreamsProps) {
  return accounts.n_streams === 0 ? (
    <StateView
      state={{
        kind: "empty",
        title: `No streams from ${accounts.host} yet`,
        next: "Check on the host that the agent is running (normstat-agent status), or import its files on the Import page.",
      }}
    />
  ) : (
    <StateView
      state={{
        kind: "empty",
        title: `No streams match “${FILTER_LABELS[filter]}” (${formatCount(accounts.n_streams)} in total)`,
        next: (
          <Button size="compact-xs" variant="default" onClick={onAll}>
            Show all streams
          </Button>
        ),
      }}
    />
  );
}
