import { Group, Pagination, Select, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { hostsQuery } from "../../api/queries";
import { episodesQuery, rulesQuery } from "../../api/watch";
import { ColourBadge } from "../../components/ColourBadge";
import { Instant } from "../../components/Instant";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import type { EpisodeInfo } from "../../logic/api";
import { fromApi, MINUTE } from "../../logic/time";
import { countPages, describeEnd, describeLength, describeSeen, isOfComparison, nameInstance, toColour } from "../../logic/watch";
import type { Zone } from "../../logic/zone";
import { useNow } from "../../state/clock";
import type { Clock } from "../../state/url";
import type { WatchView } from "../../state/watch";
import { words } from "../../words";
import { episodeLink } from "../../components/episodeLink";
import { SourceLink } from "./SourceLink";
import "./watch.css";

const PER_PAGE = 50;

interface EpisodeHistoryProps {
  readonly view: WatchView;
  readonly zone: Zone;
  readonly onView: (change: Partial<WatchView>) => void;
}

/** Episodes of all hosts, the latest first. */
export function EpisodeHistory({ view, zone, onView }: EpisodeHistoryProps) {
  const rules = useQuery(rulesQuery);
  const hosts = useQuery(hostsQuery);
  const episodes = useQuery(
    episodesQuery({ host: view.host, source: view.rule, start: null, offset: view.page * PER_PAGE, limit: PER_PAGE }),
  );
  const ofRules = new Map((rules.data?.rules ?? []).map(({ name, of }) => [name, of]));
  const n = episodes.data?.n_total ?? 0;
  const isFiltered = view.host !== "" || view.rule !== "";
  return (
    <>
      <Group gap="xs" mb="sm">
        <Select
          size="xs"
          w={200}
          aria-label={words.common.host}
          placeholder={words.watch.watchPage.allHosts}
          clearable
          searchable
          value={view.host === "" ? null : view.host}
          data={withChosen(
            view.host,
            (hosts.data?.hosts ?? []).map(({ name }) => ({ value: name, label: name })),
          )}
          onChange={(host) => {
            onView({ host: host ?? "" });
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
          data={withChosen(view.rule, [
            { value: "comparison", label: words.watch.history.unusual },
            ...(rules.data?.rules ?? []).map(({ name, title }) => ({ value: name, label: title })),
          ])}
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
          <PendingView query={episodes} what={words.watch.history.theEpisodes} />
        ) : n === 0 ? (
          <StateView
            state={{
              kind: "empty",
              title: isFiltered ? words.watch.history.noneMatch : words.watch.history.noneYet,
              next: isFiltered ? words.watch.history.clearTheFilter : words.watch.history.whenThereAre,
            }}
          />
        ) : (
          <EpisodeTable episodes={episodes.data.episodes} of={ofRules} zone={zone} clock={view.clock} />
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

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** The choices of a filter, and what a link chose although it is gone. */
function withChosen(chosen: string, choices: readonly Choice[]): Choice[] {
  const isKnown = chosen === "" || choices.some(({ value }) => value === chosen);
  return [...choices, ...(isKnown ? [] : [{ value: chosen, label: chosen }])];
}

interface EpisodeTableProps {
  readonly episodes: readonly EpisodeInfo[];
  /** What the instances of each rule are. */
  readonly of: ReadonlyMap<string, string>;
  readonly zone: Zone;
  readonly clock: Clock;
}

function EpisodeTable({ episodes, of, zone, clock }: EpisodeTableProps) {
  const now = useNow(MINUTE);
  return (
    <Table aria-label={words.watch.watchPage.history} className="watch-table watch-cards watch-history">
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
                <PageLink to="/hosts/$host" params={{ host: episode.host }} search={episodeLink(episode, clock)}>
                  {episode.host}
                </PageLink>
              )}
            </Table.Td>
            <Table.Td className="watch-what">
              <Text fz="sm">
                <SourceLink title={episode.title} episode={episode} clock={clock} />{" "}
                {!isOfComparison(episode) && nameInstance(episode.instance, of.get(episode.source) ?? "")}
              </Text>
              <Text fz="sm">{episode.sentence}</Text>
              {!isOfComparison(episode) && (
                <Text fz="sm" className="mono">
                  {describeSeen(episode.saw)}
                </Text>
              )}
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
