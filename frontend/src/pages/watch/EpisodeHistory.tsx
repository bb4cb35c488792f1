import { Group, Pagination, Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { hostsQuery } from "../../api/queries";
import { episodesQuery, rulesQuery } from "../../api/watch";
import { EpisodeTable } from "../../components/EpisodeTable";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { countPages } from "../../logic/watch";
import type { Zone } from "../../logic/zone";
import type { WatchView } from "../../state/watch";
import { counted } from "../../logic/counted";
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
          aria-label="Host"
          placeholder="All hosts"
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
          aria-label="Rule"
          placeholder="All rules"
          clearable
          searchable
          value={view.rule === "" ? null : view.rule}
          data={withChosen(view.rule, [
            { value: "comparison", label: "Unusual against the baseline" },
            ...(rules.data?.rules ?? []).map(({ name, title }) => ({ value: name, label: title })),
          ])}
          onChange={(rule) => {
            onView({ rule: rule ?? "" });
          }}
        />
        {episodes.data && (
          <Text fz="sm" className="soft">
            {counted(n, "episode")}
          </Text>
        )}
      </Group>
      <ScrollCard label="History">
        {episodes.data === undefined ? (
          <PendingView query={episodes} what="the episodes" />
        ) : n === 0 ? (
          <StateView
            state={{
              kind: "empty",
              title: isFiltered ? "No episode matches" : "No rule has found anything yet",
              next: isFiltered
                ? "Clear the filter to see all episodes."
                : "An episode is a time in which a rule said warning or worse. It stays here when it has ended.",
            }}
          />
        ) : (
          <EpisodeTable label="History" episodes={episodes.data.episodes} of={ofRules} zone={zone} clock={view.clock} />
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
