import { Table, Text } from "@mantine/core";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { StateView } from "../../components/StateView";
import type { Comparison, StatInfo } from "../../logic/api";
import { longestWindow, seriesTitle, statOf } from "../../logic/comparison";
import { matchesWords } from "../../logic/group";
import { formatCount } from "../../logic/number";
import { type Place, seriesLink } from "./link";

interface ListProps {
  readonly comparison: Comparison;
  readonly stats: readonly StatInfo[];
  readonly filter: string;
  readonly place: Place;
}

interface Row {
  readonly host: string;
  readonly stat: string;
  readonly field: string;
  readonly instance: string;
}

function keyOf({ host, stat, field, instance }: Row): string {
  return `${host} ${stat} ${field} ${instance}`;
}

/** Series that only one side has. */
export function OneSided({ comparison, stats, filter, place }: ListProps) {
  const baseline = longestWindow(comparison.against.windows) ?? place.window;
  const rows = comparison.one_sided.filter((row) => matchesWords(filter, `${keyOf(row)} ${row.sentence}`));
  if (rows.length === 0) {
    return <NothingHere count={comparison.counts.one_sided} filter={filter} title="Every series is on both sides" />;
  }
  return (
    <ScrollCard label="Series on one side only">
      <Table aria-label="Series on one side only">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>In the incident</Table.Th>
            {comparison.hosts.length > 1 && <Table.Th>Host</Table.Th>}
            <Table.Th>Series</Table.Th>
            <Table.Th>What happened</Table.Th>
            <Table.Th className="number">Samples</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={keyOf(row)}>
              <Table.Td>
                <span className="side-name" data-kind={row.side}>
                  {row.side === "incident" ? "+ appeared" : "− vanished"}
                </span>
              </Table.Td>
              {comparison.hosts.length > 1 && <Table.Td>{row.host}</Table.Td>}
              <Table.Td>
                <PageLink
                  to="/hosts/$host"
                  params={{ host: row.host }}
                  search={seriesLink(row, { ...place, window: row.side === "incident" ? place.window : baseline })}
                >
                  {seriesTitle(statOf(stats, row.stat), row)}
                </PageLink>
              </Table.Td>
              <Table.Td>{row.sentence}</Table.Td>
              <Table.Td className="number">{formatCount(row.n)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Rest shown={comparison.one_sided.length} count={comparison.counts.one_sided} />
    </ScrollCard>
  );
}

/** Series that could not be judged, each with the reason. */
export function NotJudged({ comparison, stats, filter }: ListProps) {
  const rows = comparison.thin.filter((row) => matchesWords(filter, `${keyOf(row)} ${row.reason}`));
  if (rows.length === 0) {
    return <NothingHere count={comparison.counts.thin} filter={filter} title="Every series could be judged" />;
  }
  return (
    <ScrollCard label="Series that were not judged">
      <Table aria-label="Series that were not judged">
        <Table.Thead>
          <Table.Tr>
            {comparison.hosts.length > 1 && <Table.Th>Host</Table.Th>}
            <Table.Th>Series</Table.Th>
            <Table.Th className="number">Samples in the baseline</Table.Th>
            <Table.Th className="number">Samples in the incident</Table.Th>
            <Table.Th>Why it was not judged</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={keyOf(row)}>
              {comparison.hosts.length > 1 && <Table.Td>{row.host}</Table.Td>}
              <Table.Td>{seriesTitle(statOf(stats, row.stat), row)}</Table.Td>
              <Table.Td className="number">{formatCount(row.n_baseline)}</Table.Td>
              <Table.Td className="number">{formatCount(row.n_incident)}</Table.Td>
              <Table.Td>{row.reason}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Rest shown={comparison.thin.length} count={comparison.counts.thin} />
    </ScrollCard>
  );
}

function NothingHere({ count, filter, title }: { readonly count: number; readonly filter: string; readonly title: string }) {
  return (
    <StateView
      state={
        count === 0
          ? { kind: "empty", title }
          : { kind: "empty", title: `Nothing matches “${filter}”`, next: "Clear the filter to see all." }
      }
    />
  );
}

function Rest({ shown, count }: { readonly shown: number; readonly count: number }) {
  return shown >= count ? null : (
    <Text fz="sm" className="soft" p="sm">
      The first {formatCount(shown)} of {formatCount(count)}.
    </Text>
  );
}
