import { Badge, Group, Stack, Table, Text } from "@mantine/core";
import { ColourBadge } from "../../components/ColourBadge";
import { EvidenceLinks } from "../../components/EvidenceLinks";
import { Instant } from "../../components/Instant";
import { PageButton, PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { StateView } from "../../components/StateView";
import type { OnNow, WatchNow, WatchSummary } from "../../logic/api";
import { fromApi, SECOND } from "../../logic/time";
import {
  describeBetween,
  describeInstances,
  describeSeen,
  describeWatched,
  isOfComparison,
  nameInstance,
  toColour,
} from "../../logic/watch";
import type { Zone } from "../../logic/zone";
import { useNow } from "../../state/clock";
import type { Clock } from "../../state/url";
import { encodeClock } from "../../state/zone_choice";
import { counted } from "../../logic/counted";
import { nodes } from "../../components/nodes";
import { EpisodeActions } from "./EpisodeActions";
import { episodeLink } from "../../components/episodeLink";
import { SourceLink } from "../../components/SourceLink";
import "../../components/WatchTable.css";
import "./incidents.css";

interface OnNowTableProps {
  readonly watch: WatchNow;
  /** Only entries of this host; "" for all. */
  readonly host: string;
  readonly zone: Zone;
  readonly clock: Clock;
  readonly onAllHosts: () => void;
}

/** One row for each host and rule, the worst first, with its instances folded. */
export function OnNowTable({ watch, host, zone, clock, onAllHosts }: OnNowTableProps) {
  const { on, summary } = watch;
  const shown = host === "" ? on : on.filter((entry) => entry.host === host);
  return (
    <Stack gap="sm">
      <WatchNotes summary={summary} />
      {host !== "" && (
        <Text fz="sm">
          {`Only ${host} is shown.`}{" "}
          <button type="button" className="text-button" onClick={onAllHosts}>
            Show all hosts
          </button>
        </Text>
      )}
      <ScrollCard label="Active">
        {on.length === 0 ? (
          <NothingOn summary={summary} zone={zone} clock={clock} />
        ) : shown.length === 0 ? (
          <StateView state={{ kind: "empty", title: `Nothing active on ${host}` }} />
        ) : (
          <Table aria-label="Active" className="watch-table watch-cards watch-now">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>State</Table.Th>
                <Table.Th>Host</Table.Th>
                <Table.Th>What it is</Table.Th>
                <Table.Th>Duration</Table.Th>
                <Table.Th>
                  <span className="visually-hidden">Actions</span>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map((entry) => (
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
  const since = fromApi(entry.since);
  return (
    <Table.Tr data-quiet={entry.mute !== null || entry.is_acknowledged}>
      <Table.Td>
        <ColourBadge colour={toColour(entry.colour)} />
      </Table.Td>
      <Table.Td>
        {entry.host === null || worst === undefined ? (
          <b>{entry.host ?? "normstat"}</b>
        ) : (
          <PageLink fw={600} to="/hosts/$host" params={{ host: entry.host }} search={episodeLink(worst, clock)}>
            {entry.host}
          </PageLink>
        )}
      </Table.Td>
      <Table.Td className="watch-what">
        <Group gap={6} wrap="wrap">
          {worst === undefined ? <b>{entry.title}</b> : <SourceLink title={entry.title} episode={worst} clock={clock} />}
          {!isOfComparison(entry) && (
            <Text span fz="sm">
              {describeInstances(entry)}
            </Text>
          )}
          {entry.mute !== null && (
            <Badge variant="default">
              {entry.mute.end === null ? "muted" : nodes`muted until ${<Instant at={fromApi(entry.mute.end)} zone={zone} />}`}
            </Badge>
          )}
          {entry.is_acknowledged && <Badge variant="default">{`acknowledged by ${worst?.acknowledged_by ?? ""}`}</Badge>}
        </Group>
        <Found entry={entry} />
        <EvidenceLinks evidence={entry.episodes.flatMap(({ evidence }) => evidence)} />
        <Text fz="sm" className="soft">
          {entry.action}
        </Text>
        {worst !== undefined && worst.note !== "" && <Text fz="sm">{`Note: ${worst.note}`}</Text>}
      </Table.Td>
      <Table.Td className="watch-lasts">
        <Text fz="sm">{describeBetween(since, now)}</Text>
        <Text fz="xs" className="soft">
          {nodes`since ${<Instant at={since} zone={zone} />}`}
        </Text>
      </Table.Td>
      <Table.Td>
        <EpisodeActions entry={entry} />
      </Table.Td>
    </Table.Tr>
  );
}

/** What an entry says: a rule's sentence and what its worst report saw; of the comparison a sentence for each subsystem. */
function Found({ entry }: { readonly entry: OnNow }) {
  if (isOfComparison(entry)) {
    return entry.episodes.map(({ id, sentence }) => (
      <Text key={id} fz="sm">
        {sentence}
      </Text>
    ));
  }
  const seen = describeSeen(entry.episodes[0]?.saw ?? []);
  return (
    <>
      <Text fz="sm">{entry.sentence}</Text>
      {seen !== "" && (
        <Text fz="sm" className="mono">
          {entry.n_instances > 1 ? `worst: ${nameInstance(entry.episodes[0]?.instance ?? "", entry.of)}, ${seen}` : seen}
        </Text>
      )}
    </>
  );
}

/** What keeps the answer from being complete. */
function WatchNotes({ summary }: { readonly summary: WatchSummary }) {
  const notes = [
    ...(summary.n_stopped > 0
      ? [
          `${counted(summary.n_stopped, "rule")} took too much and ${summary.n_stopped === 1 ? "was" : "were"} stopped; see Rules.`,
        ]
      : []),
    ...(summary.unwatched.length > 0
      ? [
          `${counted(summary.unwatched.length, "host")} without new samples: ${summary.unwatched.slice(0, 5).join(", ")}. Their state is unknown.`,
        ]
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

interface NothingOnProps {
  readonly summary: WatchSummary;
  readonly zone: Zone;
  readonly clock: Clock;
}

function NothingOn({ summary, zone, clock }: NothingOnProps) {
  const toHosts = (
    <PageButton mt="sm" variant="default" to="/hosts" search={encodeClock(clock)}>
      Hosts
    </PageButton>
  );
  if (summary.since === null) {
    return (
      <StateView
        state={{
          kind: "empty",
          title: "Nothing is watched yet",
          next: (
            <>
              <div>Rules watch a host as soon as its agent sends samples. See Hosts for how to start one.</div>
              {toHosts}
            </>
          ),
        }}
      />
    );
  }
  if (summary.n_hosts === 0) {
    return (
      <StateView
        state={{
          kind: "empty",
          title: "No host sent samples in the last minutes",
          next: (
            <>
              <div>Nothing is known of their state. See Hosts for when each was seen last.</div>
              {toHosts}
            </>
          ),
        }}
      />
    );
  }
  return (
    <StateView
      state={{
        kind: "empty",
        title: "Nothing active",
        next: (
          <>
            {summary.last_on_at === null
              ? nodes`Nothing has been active since watching began at ${<Instant at={fromApi(summary.since)} zone={zone} />}.`
              : nodes`Last active: ${<Instant at={fromApi(summary.last_on_at)} zone={zone} />}.`}{" "}
            {`${describeWatched(summary)}.`}
          </>
        ),
      }}
    />
  );
}
