import { Button, Group, Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { accountsQuery } from "../../api/queries";
import { LineContext } from "../../components/LineContext";
import { mayWrite, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { ReadAgain } from "../../components/ReadAgain";
import { ScrollCard } from "../../components/ScrollCard";
import { StateView } from "../../components/StateView";
import type { HostAccounts, StreamAccount } from "../../logic/api";
import { formatCount, plural } from "../../logic/number";
import { describeAccounts, FILTER_LABELS, STREAM_FILTERS, type StreamFilter } from "../../logic/stream";
import type { Zone } from "../../logic/zone";
import { type Clock, encodeImportsView } from "../../state/url";
import { StreamTable } from "./StreamTable";
import type { HostViewState } from "./useHostView";

const FIRST_LIMIT = 100;
const MOST = 500;

interface StreamsProps {
  readonly host: string;
  readonly zone: Zone;
  readonly state: HostViewState;
}

/** Every run of every tool on the host, and what became of each line that it printed. */
export function Streams({ host, zone, state }: StreamsProps) {
  const { view, set } = state;
  const { filter, streamId, place } = view;
  const [limit, setLimit] = useState(FIRST_LIMIT);
  const accounts = useQuery(accountsQuery({ host, only: filter === "all" ? null : filter, streamId: null, limit }));
  const listed = accounts.data?.streams ?? [];
  // A link may name a stream that is not among the newest, or that the filter leaves out.
  const isElsewhere = streamId !== null && accounts.data !== undefined && !listed.some(({ stream }) => stream.id === streamId);
  const other = useQuery({ ...accountsQuery({ host, only: null, streamId, limit: 1 }), enabled: isElsewhere });
  const shown: readonly StreamAccount[] = isElsewhere ? [...(other.data?.streams ?? []), ...listed] : listed;

  if (accounts.data === undefined) {
    return (
      <StateView
        state={
          accounts.error
            ? { kind: "error", error: accounts.error, onRetry: () => void accounts.refetch() }
            : { kind: "loading", what: "the streams" }
        }
      />
    );
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
          {host} has no stream {streamId}; it may have been removed.
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
            The {formatCount(listed.length)} that were heard of last, of {plural(accounts.data.n_matching, "stream")}.
          </Text>
          {limit < MOST && (
            <Button
              variant="default"
              onClick={() => {
                setLimit(MOST);
              }}
            >
              Show up to {formatCount(MOST)}
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

/** Everything summed up, which streams are listed, and what may be read again at once. */
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
              Load files of {host}
            </PageLink>
          )}
        </Group>
        <Select
          size="xs"
          w={190}
          aria-label="Which streams"
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
              ? "One stream was read by another version of its spec than there is now."
              : `${formatCount(n_streams_outdated)} streams were read by other versions of their specs than there are now.`}
          </Text>
          <ReadAgain wish={{ host, is_outdated_only: true }} what={`outdated streams of ${host}`} label="Read them again" />
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
        title: `No stream has come from ${accounts.host}`,
        next: "Look on the host whether the agent runs (normstat-agent status), or load files of it on the page Import.",
      }}
    />
  ) : (
    <StateView
      state={{
        kind: "empty",
        title: `Of ${plural(accounts.n_streams, "stream")} none is “${FILTER_LABELS[filter]}”`,
        next: (
          <Button size="compact-xs" variant="default" onClick={onAll}>
            Show all streams
          </Button>
        ),
      }}
    />
  );
}
