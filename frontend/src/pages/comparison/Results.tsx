import { Group, Select, Table, Tabs, Text, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { StateView } from "../../components/StateView";
import type { Comparison, StatInfo } from "../../logic/api";
import {
  filterSeries,
  longestWindow,
  overlayWindow,
  seriesTitle,
  SORT_LABELS,
  SORTS,
  sortFindings,
} from "../../logic/comparison";
import { formatCount } from "../../logic/number";
import type { Scheme } from "../../logic/palette";
import type { Window } from "../../logic/time";
import { type Clock, COMPARISON_TABS, type ComparisonView } from "../../state/url";
import { FindingRow } from "./FindingRow";
import { seriesLink } from "./link";

interface ResultsProps {
  readonly comparison: Comparison;
  readonly stats: readonly StatInfo[];
  readonly view: ComparisonView;
  readonly incident: Window;
  readonly scheme: Scheme;
  readonly onChange: (change: Partial<ComparisonView>, isNew: boolean) => void;
}

/** Findings in their order, and apart from them what could not be compared. */
export function Results({ comparison, stats, view, incident, scheme, onChange }: ResultsProps) {
  const { n_findings, n_one_sided, n_thin } = comparison;
  return (
    <Tabs
      keepMounted={false}
      value={view.tab}
      onChange={(tab) => {
        onChange({ tab: COMPARISON_TABS.find((known) => known === tab) ?? "findings" }, false);
      }}
    >
      <Group justify="space-between" align="flex-end" className="results-head">
        <Tabs.List>
          <Tabs.Tab value="findings">Differ: {formatCount(n_findings)}</Tabs.Tab>
          <Tabs.Tab value="one-sided">Appeared or vanished: {formatCount(n_one_sided)}</Tabs.Tab>
          <Tabs.Tab value="thin">Too few samples: {formatCount(n_thin)}</Tabs.Tab>
        </Tabs.List>
        <Group gap="xs" pb={6} className="no-print">
          <TextInput
            size="xs"
            w={300}
            aria-label="Filter"
            placeholder="Filter: words, or -word to leave out"
            leftSection={<IconSearch size={14} />}
            value={view.filter}
            onChange={(event) => {
              onChange({ filter: event.currentTarget.value }, false);
            }}
          />
          {view.tab === "findings" && (
            <Select
              size="xs"
              w={170}
              aria-label="Order"
              allowDeselect={false}
              data={SORTS.map((value) => ({ value, label: `by ${SORT_LABELS[value]}` }))}
              value={view.sort}
              onChange={(value) => {
                onChange({ sort: SORTS.find((sort) => sort === value) ?? "rank" }, false);
              }}
            />
          )}
        </Group>
      </Group>
      <Tabs.Panel value="findings">
        <Findings comparison={comparison} stats={stats} view={view} incident={incident} scheme={scheme} onChange={onChange} />
      </Tabs.Panel>
      <Tabs.Panel value="one-sided" pt="sm">
        <OneSided comparison={comparison} stats={stats} filter={view.filter} incident={incident} clock={view.clock} />
      </Tabs.Panel>
      <Tabs.Panel value="thin" pt="sm">
        <Thin comparison={comparison} stats={stats} filter={view.filter} />
      </Tabs.Panel>
    </Tabs>
  );
}

function statOf(stats: readonly StatInfo[], name: string): StatInfo | null {
  return stats.find((stat) => stat.name === name) ?? null;
}

function Findings({ comparison, stats, view, incident, scheme }: ResultsProps) {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const shown = useMemo(
    () =>
      sortFindings(
        filterSeries(comparison.findings, view.filter, (finding) => `${finding.column} ${finding.unit} ${finding.sentence}`),
        view.sort,
      ),
    [comparison.findings, view.filter, view.sort],
  );
  const baselineWindow = useMemo(
    () => overlayWindow(comparison.baseline.windows, incident),
    [comparison.baseline.windows, incident],
  );
  if (comparison.findings.length === 0) {
    return (
      <StateView
        state={{
          kind: "empty",
          title: "Nothing differs from the baseline",
          next: "No series moved further than it does by itself. Was the incident in this window? Look at what appeared or vanished, or compare with another baseline.",
        }}
      />
    );
  }
  return (
    <>
      <ol className="findings">
        {shown.map((finding) => (
          <FindingRow
            key={finding.rank}
            host={comparison.host}
            finding={finding}
            stat={statOf(stats, finding.stat)}
            incident={incident}
            baselineWindow={baselineWindow}
            scheme={scheme}
            clock={view.clock}
            isOpen={open.has(finding.rank)}
            onToggle={() => {
              const next = new Set(open);
              if (!next.delete(finding.rank)) {
                next.add(finding.rank);
              }
              setOpen(next);
            }}
          />
        ))}
      </ol>
      {shown.length === 0 && (
        <StateView
          state={{ kind: "empty", title: `No finding matches “${view.filter}”`, next: "Clear the filter to see all." }}
        />
      )}
      {comparison.findings.length < comparison.n_findings && (
        <Text fz="sm" className="soft" ta="center" mt="md">
          The first {formatCount(comparison.findings.length)} of {formatCount(comparison.n_findings)} are here; the others moved
          less.
        </Text>
      )}
    </>
  );
}

interface ListProps {
  readonly comparison: Comparison;
  readonly stats: readonly StatInfo[];
  readonly filter: string;
}

function OneSided({
  comparison,
  stats,
  filter,
  incident,
  clock,
}: ListProps & { readonly incident: Window; readonly clock: Clock }) {
  const baseline = longestWindow(comparison.baseline.windows) ?? incident;
  const rows = filterSeries(comparison.one_sided, filter, ({ sentence }) => sentence);
  if (rows.length === 0) {
    return <NothingHere count={comparison.n_one_sided} filter={filter} title="Every series is on both sides" />;
  }
  return (
    <ScrollCard label="Series on one side only">
      <Table aria-label="Series on one side only">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>In the incident</Table.Th>
            <Table.Th>Series</Table.Th>
            <Table.Th>What happened</Table.Th>
            <Table.Th className="number">Samples</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={`${row.stat} ${row.instance} ${row.field}`}>
              <Table.Td>
                <span className="side-name" data-kind={row.side}>
                  {row.side === "incident" ? "+ appeared" : "− vanished"}
                </span>
              </Table.Td>
              <Table.Td>
                <PageLink
                  to="/hosts/$host"
                  params={{ host: comparison.host }}
                  search={seriesLink(row, row.side === "incident" ? incident : baseline, clock)}
                >
                  {seriesTitle(statOf(stats, row.stat), row)}
                </PageLink>
              </Table.Td>
              <Table.Td>{row.sentence}</Table.Td>
              <Table.Td className="number">{formatCount(row.summary.n)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Rest shown={comparison.one_sided.length} count={comparison.n_one_sided} />
    </ScrollCard>
  );
}

function Thin({ comparison, stats, filter }: ListProps) {
  const rows = filterSeries(comparison.thin, filter, ({ reason }) => reason);
  if (rows.length === 0) {
    return <NothingHere count={comparison.n_thin} filter={filter} title="Every series had enough samples" />;
  }
  return (
    <ScrollCard label="Series with too few samples">
      <Table aria-label="Series with too few samples">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Series</Table.Th>
            <Table.Th className="number">Samples in the baseline</Table.Th>
            <Table.Th className="number">Samples in the incident</Table.Th>
            <Table.Th>Why it was not judged</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={`${row.stat} ${row.instance} ${row.field}`}>
              <Table.Td>{seriesTitle(statOf(stats, row.stat), row)}</Table.Td>
              <Table.Td className="number">{formatCount(row.n_baseline)}</Table.Td>
              <Table.Td className="number">{formatCount(row.n_incident)}</Table.Td>
              <Table.Td>{row.reason}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Rest shown={comparison.thin.length} count={comparison.n_thin} />
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
