import { Badge, Group, Stack, Table, Text } from "@mantine/core";
import { ColourBadge } from "../../components/ColourBadge";
import { Instant } from "../../components/Instant";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { StateView } from "../../components/StateView";
import type { OnNow, WatchNow, WatchSummary } from "../../logic/api";
import { fromApi, SECOND } from "../../logic/time";
import {
  describeBetween,
  describeInstances,
  describeSeen,
  describeWatched,
  episodeSurroundings,
  episodeWindow,
  toColour,
} from "../../logic/watch";
import type { Zone } from "../../logic/zone";
import { useNow } from "../../state/clock";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";
import { words } from "../../words";
import { EpisodeActions } from "./EpisodeActions";
import "./watch.css";

interface OnNowTableProps {
  readonly watch: WatchNow;
  readonly zone: Zone;
  readonly clock: Clock;
}

/** One row for each host and rule, the worst first, with its instances folded. */
export function OnNowTable({ watch, zone, clock }: OnNowTableProps) {
  const { on, summary } = watch;
  return (
    <Stack gap="sm">
      <WatchNotes summary={summary} />
      <ScrollCard label={words.watch.watchPage.onNow}>
        {on.length === 0 ? (
          <NothingOn summary={summary} zone={zone} />
        ) : (
          <Table aria-label={words.watch.watchPage.onNow} className="watch-table">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{words.common.state}</Table.Th>
                <Table.Th>{words.common.host}</Table.Th>
                <Table.Th>{words.watch.onNow.what}</Table.Th>
                <Table.Th>{words.watch.onNow.lasts}</Table.Th>
                <Table.Th />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {on.map((entry) => (
                <OnNowRow key={`${entry.host ?? ""} ${entry.source}`} entry={entry} zone={zone} clock={clock} />
              ))}
            </Table.Tbody>
          </Table>
        )}
      </ScrollCard>
    </Stack>
  );
}

function OnNowRow({ entry, zone, clock }: { readonly entry: OnNow; readonly zone: Zone; readonly clock: Clock }) {
  const now = useNow(SECOND);
  const [worst] = entry.episodes;
  const instances = describeInstances(entry);
  const since = fromApi(entry.since);
  return (
    <Table.Tr data-quiet={entry.mute !== null || entry.is_acknowledged}>
      <Table.Td>
        <ColourBadge colour={toColour(entry.colour)} />
      </Table.Td>
      <Table.Td>
        {entry.host === null || worst === undefined ? (
          <b>{entry.host ?? words.watch.onNow.thisServer}</b>
        ) : (
          <PageLink
            fw={600}
            to="/hosts/$host"
            params={{ host: entry.host }}
            search={encodeHostView({
              ...DEFAULT_HOST_VIEW,
              clock,
              mark: episodeWindow(worst),
              range: { kind: "fixed", window: episodeSurroundings(worst) },
            })}
          >
            {entry.host}
          </PageLink>
        )}
      </Table.Td>
      <Table.Td maw={760}>
        <Group gap={6} wrap="wrap">
          <PageLink
            to="/watch/rules/$rule"
            params={{ rule: entry.source }}
            search={clock === "utc" ? { tz: "utc" } : {}}
            fw={600}
          >
            {entry.title}
          </PageLink>
          {instances !== "" && (
            <Text span fz="sm">
              {instances}
            </Text>
          )}
          {entry.mute !== null && <Badge variant="default">{words.watch.onNow.muted}</Badge>}
          {entry.is_acknowledged && (
            <Badge variant="default">{words.watch.onNow.acknowledgedBy(worst?.acknowledged_by ?? "")}</Badge>
          )}
        </Group>
        <Text fz="sm">{entry.sentence}</Text>
        {worst !== undefined && worst.saw.length > 0 && (
          <Text fz="sm" className="mono">
            {describeSeen(worst.saw)}
          </Text>
        )}
        <Text fz="sm" className="soft">
          {entry.action}
        </Text>
        {worst !== undefined && worst.note !== "" && <Text fz="sm">{words.watch.onNow.noteOf(worst.note)}</Text>}
      </Table.Td>
      <Table.Td>
        <Text fz="sm">{describeBetween(since, now)}</Text>
        <Text fz="xs" className="soft">
          {words.watch.onNow.since(<Instant at={since} zone={zone} />)}
        </Text>
      </Table.Td>
      <Table.Td>
        <EpisodeActions entry={entry} />
      </Table.Td>
    </Table.Tr>
  );
}

/** What keeps the answer from being complete. */
function WatchNotes({ summary }: { readonly summary: WatchSummary }) {
  const notes = [
    ...(summary.n_stopped > 0 ? [words.watch.onNow.rulesStopped(summary.n_stopped)] : []),
    ...(summary.unwatched.length > 0
      ? [words.watch.onNow.unwatched(summary.unwatched.slice(0, 5).join(", "), summary.unwatched.length)]
      : []),
  ];
  return notes.length === 0 ? null : (
    <div role="note" className="card watch-notes">
      {notes.map((note) => (
        <Text key={note} fz="sm">
          {note}
        </Text>
      ))}
    </div>
  );
}

function NothingOn({ summary, zone }: { readonly summary: WatchSummary; readonly zone: Zone }) {
  if (summary.since === null) {
    return (
      <StateView state={{ kind: "empty", title: words.watch.onNow.nothingWatchedYet, next: words.watch.onNow.startAnAgent }} />
    );
  }
  const since =
    summary.last_on_at === null
      ? words.watch.onNow.nothingEver(<Instant at={fromApi(summary.since)} zone={zone} />)
      : words.watch.onNow.nothingSince(<Instant at={fromApi(summary.last_on_at)} zone={zone} />);
  const isStale = summary.n_hosts === 0;
  return (
    <StateView
      state={{
        kind: "empty",
        title: isStale ? words.watch.onNow.noHostJudged : describeWatched(summary),
        next: isStale ? words.watch.onNow.seeHosts : since,
      }}
    />
  );
}
