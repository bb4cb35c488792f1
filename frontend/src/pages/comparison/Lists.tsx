import { Table, Text } from "@mantine/core";
import { PageLink } from "../../components/PageLink";
import { ProcessLink } from "../../components/ProcessLink";
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

/** Series with samples on one side only. */
export function UnmatchedSeries({ comparison, stats, filter, place }: ListProps) {
  const { appeared, disappeared, counts } = comparison;
  const baseline = longestWindow(comparison.against.windows) ?? place.window;
  const count = counts.appeared + counts.disappeared;
  const rows = [
    ...appeared.map((row) => ({ ...row, kind: "incident", label: "+ appeared", window: place.window })),
    ...disappeared.map((row) => ({ ...row, kind: "baseline", label: "− disappeared", window: baseline })),
  ].filter((row) => matchesWords(filter, `${keyOf(row)} ${row.sentence}`));
  if (rows.length === 0) {
    return <NothingHere count={count} filter={filter} title="Every series has samples on both sides" />;
  }
  return (
    <ScrollCard label="Appeared and disappeared series">
      <Table aria-label="Appeared and disappeared series">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>In the incident</Table.Th>
            {comparison.hosts.length > 1 && <Table.Th>Host</Table.Th>}
            <Table.Th>Series</Table.Th>
            <Table.Th>Change</Table.Th>
            <Table.Th className="number">Samples</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={`${row.kind} ${keyOf(row)}`}>
              <Table.Td>
                <span className="side-name" data-kind={row.kind}>
                  {row.label}
                </span>
              </Table.Td>
              {comparison.hosts.length > 1 && <Table.Td>{row.host}</Table.Td>}
              <Table.Td>
                <PageLink
                  to="/hosts/$host"
                  params={{ host: row.host }}
                  search={seriesLink(row, { ...place, window: row.window })}
                >
                  {seriesTitle(statOf(stats, row.stat), row)}
                </PageLink>{" "}
                <ProcessLink
                  host={row.host}
                  stat={statOf(stats, row.stat)}
                  instance={row.instance}
                  at={{ window: row.window, clock: place.clock }}
                />
              </Table.Td>
              <Table.Td>{row.sentence}</Table.Td>
              <Table.Td className="number">{formatCount(row.n)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Rest shown={appeared.length + disappeared.length} count={count} />
    </ScrollCard>
  );
}

/** Series with too few samples, each with the reason. */
export function InsufficientData({ comparison, stats, filter }: ListProps) {
  const rows = comparison.insufficient_data.filter((row) => matchesWords(filter, `${keyOf(row)} ${row.reason}`));
  if (rows.length === 0) {
    return <NothingHere count={comparison.counts.insufficient_data} filter={filter} title="Every series has enough samples" />;
  }
  return (
    <ScrollCard label="Series with insufficient data">
      <Table aria-label="Series with insufficient data">
        <Table.Thead>
          <Table.Tr>
            {comparison.hosts.length > 1 && <Table.Th>Host</Table.Th>}
            <Table.Th>Series</Table.Th>
            <Table.Th className="number">Samples in the baseline</Table.Th>
            <Table.Th className="number">Samples in the incident</Table.Th>
            <Table.Th>Reason</Table.Th>
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
      <Rest shown={comparison.insufficient_data.length} count={comparison.counts.insufficient_data} />
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
      {`The first ${formatCount(shown)} of ${formatCount(count)}.`}
    </Text>
  );
}
