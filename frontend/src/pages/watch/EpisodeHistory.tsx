import { Group, Pagination, Select, Table, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { episodesQuery, rulesQuery } from "../../api/watch";
import { ColourBadge } from "../../components/ColourBadge";
import { Instant } from "../../components/Instant";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { StateView } from "../../components/StateView";
import type { EpisodeInfo } from "../../logic/api";
import { fromApi, MINUTE } from "../../logic/time";
import {
  countPages,
  describeEnd,
  describeLength,
  describeSeen,
  episodeSurroundings,
  episodeWindow,
  toColour,
} from "../../logic/watch";
import type { Zone } from "../../logic/zone";
import { useNow, zoneOf } from "../../state/clock";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";
import type { WatchView } from "../../state/watch";
import { words } from "../../words";
import "./watch.css";

const PER_PAGE = 50;

interface EpisodeHistoryProps {
  readonly view: WatchView;
  readonly onView: (change: Partial<WatchView>) => void;
}

/** Episodes of all hosts, the latest first. */
export function EpisodeHistory({ view, onView }: EpisodeHistoryProps) {
  const rules = useQuery(rulesQuery);
  const episodes = useQuery(
    episodesQuery({ host: view.host, source: view.rule, start: null, offset: view.page * PER_PAGE, limit: PER_PAGE }),
  );
  const n = episodes.data?.n_total ?? 0;
  const isFiltered = view.host !== "" || view.rule !== "";
  return (
    <>
      <Group gap="xs" mb="sm">
        <TextInput
          size="xs"
          w={180}
          aria-label={words.common.host}
          placeholder={words.common.host}
          value={view.host}
          onChange={(event) => {
            onView({ host: event.currentTarget.value });
          }}
        />
        <Select
          size="xs"
          w={260}
          aria-label={words.watch.watchPage.rule}
          placeholder={words.watch.watchPage.allRules}
          clearable
          searchable
          value={view.rule === "" ? null : view.rule}
          data={(rules.data?.rules ?? []).map(({ name, title }) => ({ value: name, label: title }))}
          onChange={(rule) => {
            onView({ rule: rule ?? "" });
          }}
        />
        {episodes.data && (
          <Text fz="sm" className="soft">
            {words.watch.history.nEpisodes(n)}
          </Text>
        )}
      </Group>
      <ScrollCard label={words.watch.watchPage.history}>
        {episodes.data === undefined ? (
          <StateView
            state={
              episodes.error
                ? { kind: "error", error: episodes.error, onRetry: () => void episodes.refetch() }
                : { kind: "loading", what: words.watch.history.theEpisodes }
            }
          />
        ) : n === 0 ? (
          <StateView
            state={{
              kind: "empty",
              title: isFiltered ? words.watch.history.noneMatch : words.watch.history.noneYet,
              next: isFiltered ? words.watch.history.clearTheFilter : words.watch.history.whenThereAre,
            }}
          />
        ) : (
          <EpisodeTable episodes={episodes.data.episodes} zone={zoneOf(view.clock)} clock={view.clock} />
        )}
      </ScrollCard>
      {n > PER_PAGE && (
        <Pagination
          mt="sm"
          size="sm"
          total={countPages(n, PER_PAGE)}
          value={view.page + 1}
          onChange={(page) => {
            onView({ page: page - 1 });
          }}
        />
      )}
    </>
  );
}

interface EpisodeTableProps {
  readonly episodes: readonly EpisodeInfo[];
  readonly zone: Zone;
  readonly clock: Clock;
}

function EpisodeTable({ episodes, zone, clock }: EpisodeTableProps) {
  const now = useNow(MINUTE);
  return (
    <Table aria-label={words.watch.watchPage.history} className="watch-table">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{words.common.from}</Table.Th>
          <Table.Th>{words.watch.history.lasted}</Table.Th>
          <Table.Th>{words.common.state}</Table.Th>
          <Table.Th>{words.common.host}</Table.Th>
          <Table.Th>{words.watch.onNow.what}</Table.Th>
          <Table.Th>{words.watch.history.end}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {episodes.map((episode) => (
          <Table.Tr key={episode.id}>
            <Table.Td>
              <Instant at={fromApi(episode.start)} zone={zone} />
            </Table.Td>
            <Table.Td style={{ whiteSpace: "nowrap" }}>{describeLength(episode, now)}</Table.Td>
            <Table.Td>
              <ColourBadge colour={toColour(episode.colour)} />
            </Table.Td>
            <Table.Td>
              {episode.host === null ? (
                words.watch.onNow.thisServer
              ) : (
                <PageLink
                  to="/hosts/$host"
                  params={{ host: episode.host }}
                  search={encodeHostView({
                    ...DEFAULT_HOST_VIEW,
                    clock,
                    mark: episodeWindow(episode),
                    range: { kind: "fixed", window: episodeSurroundings(episode) },
                  })}
                >
                  {episode.host}
                </PageLink>
              )}
            </Table.Td>
            <Table.Td maw={640}>
              <Text fz="sm">
                <b>{episode.title}</b> {episode.instance}
              </Text>
              <Text fz="sm" className="mono">
                {describeSeen(episode.saw)}
              </Text>
              {episode.acknowledged_at !== null && (
                <Text fz="sm" className="soft">
                  {words.watch.onNow.acknowledgedBy(episode.acknowledged_by)}
                  {episode.note !== "" && `: ${episode.note}`}
                </Text>
              )}
              {episode.exclusion_id !== null && (
                <Text fz="sm" className="soft">
                  {words.watch.history.markedAsIncident}
                </Text>
              )}
            </Table.Td>
            <Table.Td>
              <Text fz="sm">{describeEnd(episode.ended_by)}</Text>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
