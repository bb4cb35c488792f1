import { Stack, Table, Text } from "@mantine/core";
import { ColourBadge } from "../../components/ColourBadge";
import { Instant } from "../../components/Instant";
import { PageLink } from "../../components/PageLink";
import type { Backtest, BacktestHost } from "../../logic/api";
import { formatCount } from "../../logic/number";
import { fromApi, type Window } from "../../logic/time";
import {
  describeBetween,
  describeSeconds,
  describeSeen,
  episodeSurroundings,
  episodeWindow,
  isLongEnough,
  toColour,
  wholeSeconds,
} from "../../logic/watch";
import { formatInstant, type Zone } from "../../logic/zone";
import { DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";
import { counted } from "../../logic/counted";
import { StateStrip } from "./StateStrip";
import "../../components/WatchTable.css";
import "./watch.css";

const MAX_SHOWN = 20;

interface BacktestResultsProps {
  readonly backtest: Backtest;
  readonly results: readonly BacktestHost[];
  readonly zone: Zone;
}

/** What a rule would have found on each host, over time and as a list. */
export function BacktestResults({ backtest, results, zone }: BacktestResultsProps) {
  const window = wholeSeconds({ start: fromApi(backtest.start), end: fromApi(backtest.end) });
  return (
    <Stack gap="md">
      {results.map((result) => (
        <HostResult key={result.host} result={result} window={window} zone={zone} />
      ))}
    </Stack>
  );
}

function HostResult({ result, window, zone }: { readonly result: BacktestHost; readonly window: Window; readonly zone: Zone }) {
  const { host, problem, n_episodes, n_a_week, unknown_s, episodes } = result;
  if (problem !== "") {
    return <Text fz="sm">{problem}</Text>;
  }
  const isLong = isLongEnough(result);
  return (
    <div>
      <Text fz="sm" mb={4}>
        {n_episodes === 0
          ? `On ${host} it would have found nothing.`
          : `On ${host} it would have found ${counted(n_episodes, "episode")}${
              isLong ? `, ${n_a_week.toPrecision(2)} a week.` : "."
            }`}{" "}
        {unknown_s >= 1 && `It could not judge ${describeSeconds(unknown_s)}.`}
      </Text>
      <StateStrip
        window={window}
        zone={zone}
        label={`Episodes on ${host} over time`}
        segments={episodes.map((episode) => ({ ...episodeWindow(episode), colour: toColour(episode.colour) }))}
      />
      <Text fz="xs" className="soft state-strip-axis" component="div" mb={4}>
        <span>{formatInstant(zone, window.start)}</span>
        <span>{formatInstant(zone, window.end)}</span>
      </Text>
      {episodes.length > 0 && (
        <Table aria-label={`Episodes on ${host} over time`} className="watch-table">
          <Table.Tbody>
            {episodes.slice(0, MAX_SHOWN).map((episode) => (
              <Table.Tr key={`${episode.start} ${episode.instance}`}>
                <Table.Td>
                  <PageLink
                    to="/hosts/$host"
                    params={{ host }}
                    search={encodeHostView({
                      ...DEFAULT_HOST_VIEW,
                      mark: episodeWindow(episode),
                      range: { kind: "fixed", window: episodeSurroundings(episode) },
                    })}
                  >
                    <Instant at={fromApi(episode.start)} zone={zone} />
                  </PageLink>
                </Table.Td>
                <Table.Td>{describeBetween(fromApi(episode.start), fromApi(episode.last))}</Table.Td>
                <Table.Td>
                  <ColourBadge colour={toColour(episode.colour)} />
                </Table.Td>
                <Table.Td>{episode.instance}</Table.Td>
                <Table.Td className="mono">{describeSeen(episode.saw)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {n_episodes > MAX_SHOWN && (
        <Text fz="sm" className="soft">
          {`The first ${formatCount(MAX_SHOWN)} of ${formatCount(n_episodes)}.`}
        </Text>
      )}
    </div>
  );
}
