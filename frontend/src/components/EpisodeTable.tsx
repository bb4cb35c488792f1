import { Table, Text } from "@mantine/core";
import type { EpisodeInfo } from "../logic/api";
import { fromApi, MINUTE } from "../logic/time";
import { describeEnd, describeLength, describeSeen, isOfComparison, nameInstance, toColour } from "../logic/watch";
import type { Zone } from "../logic/zone";
import { useNow } from "../state/clock";
import type { Clock } from "../state/url";
import { ColourBadge } from "./ColourBadge";
import { episodeLink } from "./episodeLink";
import { EvidenceLinks } from "./EvidenceLinks";
import { Instant } from "./Instant";
import { PageLink } from "./PageLink";
import { SourceLink } from "./SourceLink";
import "./WatchTable.css";

interface EpisodeTableProps {
  readonly label: string;
  readonly episodes: readonly EpisodeInfo[];
  /** What the instances of each rule are. */
  readonly of: ReadonlyMap<string, string>;
  readonly zone: Zone;
  readonly clock: Clock;
}

/** Episodes with what each saw and how it ended; on a phone each is a card. */
export function EpisodeTable({ label, episodes, of, zone, clock }: EpisodeTableProps) {
  const now = useNow(MINUTE);
  return (
    <Table aria-label={label} className="watch-table watch-cards">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>From</Table.Th>
          <Table.Th>Lasted</Table.Th>
          <Table.Th>State</Table.Th>
          <Table.Th>Host</Table.Th>
          <Table.Th>What it is</Table.Th>
          <Table.Th>End</Table.Th>
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
                "normstat"
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
              <EvidenceLinks evidence={episode.evidence} />
              {episode.acknowledged_at !== null && (
                <Text fz="sm" className="soft">
                  {`acknowledged by ${episode.acknowledged_by}`}
                  {episode.note !== "" && `: ${episode.note}`}
                </Text>
              )}
              {episode.exclusion_id !== null && (
                <Text fz="sm" className="soft">
                  marked as incident
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
