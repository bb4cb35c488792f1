import { Group as Row, Tabs, Text } from "@mantine/core";
import { useCallbackRef } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { mayWrite, useMe } from "../../components/me";
import { StateView } from "../../components/StateView";
import { seriesQuery } from "../../api/comparison";
import type { ComparisonInputs } from "../../logic/against";
import type { Comparison, FindingGroup, StatInfo } from "../../logic/api";
import { statOf } from "../../logic/comparison";
import { filterGroups, groupKey, sortGroups, toggledOf } from "../../logic/group";
import { formatCount } from "../../logic/number";
import { shownList } from "../../logic/story";
import type { Zone } from "../../logic/zone";
import { COMPARISON_TABS, type ComparisonView } from "../../state/comparison";
import { Filters, FilterText } from "./Filters";
import { GroupCard } from "./GroupCard";
import { AskSeries } from "./AskSeries";
import { InsufficientData, UnmatchedSeries } from "./Lists";
import { Muted } from "./Muted";
import { MuteDialog } from "./MuteDialog";
import type { Place } from "./link";
import { SeriesTable } from "./SeriesTable";
import { ListSwitch, Stories } from "./Stories";
import { Verdict } from "./Verdict";

interface ResultsProps {
  readonly comparison: Comparison;
  /** Of a comparison that can be asked about every series. Null: a saved one has only its lists. */
  readonly inputs: ComparisonInputs | null;
  readonly stats: readonly StatInfo[];
  readonly view: ComparisonView;
  /** The target of links to a host; a stable object. */
  readonly place: Place;
  readonly zone: Zone;
  readonly onChange: (change: Partial<ComparisonView>, isNew: boolean) => void;
}

/** The groups of findings, and the lists of other series. */
export function Results(props: ResultsProps) {
  const { comparison, inputs, stats, view, zone, place, onChange } = props;
  const { counts } = comparison;
  const list = { comparison, stats, filter: view.filter, place };
  return (
    <>
      {inputs && <AskSeries comparison={comparison} inputs={inputs} view={view} place={place} onChange={onChange} />}
      <Tabs
        keepMounted={false}
        value={inputs === null && !SAVED_TABS.includes(view.tab) ? "findings" : view.tab}
        onChange={(tab) => {
          onChange({ tab: COMPARISON_TABS.find((known) => known === tab) ?? "findings" }, false);
        }}
      >
        <Row justify="space-between" align="flex-end" className="results-head">
          <Tabs.List>
            <Tabs.Tab value="findings">{`Changed: ${formatCount(comparison.n_groups)}`}</Tabs.Tab>
            {inputs && <UnchangedTabs comparison={comparison} inputs={inputs} />}
            <Tabs.Tab value="unmatched">
              {`Appeared / disappeared: ${formatCount(counts.appeared + counts.disappeared)}`}
            </Tabs.Tab>
            <Tabs.Tab value="insufficient-data">{`Not enough samples: ${formatCount(counts.insufficient_data)}`}</Tabs.Tab>
            <Tabs.Tab value="muted">{`Muted: ${formatCount(counts.muted)}`}</Tabs.Tab>
          </Tabs.List>
          {view.tab !== "findings" && (
            <div className="no-print">
              <FilterText view={view} onChange={onChange} />
            </div>
          )}
        </Row>
        <Tabs.Panel value="findings">
          <Findings {...props} />
        </Tabs.Panel>
        {inputs ? (
          SERIES_TABS.map(({ tab, ...table }) => (
            <Tabs.Panel key={tab} value={tab} pt="sm">
              <SeriesTable {...table} comparison={comparison} inputs={inputs} place={place} search={view.filter} />
            </Tabs.Panel>
          ))
        ) : (
          <>
            <Tabs.Panel value="unmatched" pt="sm">
              <UnmatchedSeries {...list} />
            </Tabs.Panel>
            <Tabs.Panel value="insufficient-data" pt="sm">
              <InsufficientData {...list} />
            </Tabs.Panel>
          </>
        )}
        <Tabs.Panel value="muted" pt="sm">
          <Muted {...list} zone={zone} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

const SAVED_TABS: readonly ComparisonView["tab"][] = ["findings", "unmatched", "insufficient-data", "muted"];

/** The tables of series outside the findings. */
const SERIES_TABS = [
  {
    tab: "unchanged",
    verdicts: ["unchanged"],
    sort: "significance",
    label: "Unchanged series",
    nothing: "No series is unchanged",
  },
  {
    tab: "likely",
    verdicts: ["likely"],
    sort: "difference",
    label: "Series that are likely unusual",
    nothing: "No series is only likely to be unusual",
  },
  {
    tab: "unmatched",
    verdicts: ["appeared", "disappeared"],
    sort: "incident",
    label: "Appeared and disappeared series",
    nothing: "Every series has samples on both sides",
  },
  {
    tab: "insufficient-data",
    verdicts: ["insufficient_data"],
    sort: "difference",
    label: "Series without enough samples",
    nothing: "Every series has enough samples",
  },
] as const;

/** The tabs whose counts are not part of the comparison itself. */
function UnchangedTabs({ comparison, inputs }: { readonly comparison: Comparison; readonly inputs: ComparisonInputs }) {
  const counts = useQuery(seriesQuery(inputs, { limit: 1 })).data?.counts;
  return (
    <>
      <Tabs.Tab value="likely">{`Likely: ${formatCount(counts?.likely ?? 0)}`}</Tabs.Tab>
      <Tabs.Tab value="unchanged">{`Unchanged: ${formatCount(counts?.unchanged ?? comparison.n_unchanged)}`}</Tabs.Tab>
    </>
  );
}

/** Whether no series has enough samples for a verdict. */
function hasNoVerdict({ n_findings, n_unchanged, counts }: Comparison): boolean {
  return n_findings + n_unchanged + counts.muted === 0 && counts.insufficient_data > 0;
}

/** The stories or all changes, and the dialog that mutes a series of either. */
function Findings(props: ResultsProps) {
  const [muting, setMuting] = useState<FindingGroup | null>(null);
  return (
    <>
      <FindingLists {...props} onMute={setMuting} />
      {muting && (
        <MuteDialog
          group={muting}
          instanceTitle={statOf(props.stats, muting.stat)?.instance_title ?? ""}
          onClose={() => {
            setMuting(null);
          }}
        />
      )}
    </>
  );
}

function FindingLists(props: ResultsProps & { readonly onMute: (group: FindingGroup) => void }) {
  const { comparison, inputs, stats, view, zone, place, onChange, onMute } = props;
  const me = useMe();
  const pins = useMemo(() => new Set(view.pins), [view.pins]);
  const { filter, onlyHosts, subsystems, kinds, sort } = view;
  const shown = useMemo(
    () => sortGroups(filterGroups(comparison.groups, { text: filter, hosts: onlyHosts, subsystems, kinds }), sort, pins),
    [comparison.groups, filter, onlyHosts, subsystems, kinds, sort, pins],
  );
  const onPin = useCallbackRef((key: string) => {
    onChange({ pins: toggledOf(view.pins, key) }, false);
  });
  if (comparison.groups.length === 0) {
    return hasNoVerdict(comparison) && inputs ? (
      <>
        <Text fz="md" fw={600} my={8}>
          {comparison.verdict}
        </Text>
        <SeriesTable
          comparison={comparison}
          inputs={inputs}
          place={place}
          label="Both sides of every series"
          search={filter}
          verdicts={["insufficient_data"]}
          sort="difference"
          nothing="No series has a sample on both sides"
        />
      </>
    ) : (
      <Verdict comparison={comparison} stats={stats} />
    );
  }
  if (shownList(comparison, view.list) === "stories") {
    return <Stories {...props} />;
  }
  return (
    <>
      <ListSwitch comparison={comparison} list="changes" onChange={onChange} />
      <Filters groups={comparison.groups} hosts={comparison.hosts} view={view} onChange={onChange} />
      <ol className="findings">
        {shown.map((group) => (
          <GroupCard
            key={groupKey(group)}
            group={group}
            stat={statOf(stats, group.stat)}
            place={place}
            zone={zone}
            align={view.align}
            isPinned={pins.has(groupKey(group))}
            hasManyHosts={comparison.hosts.length > 1}
            mayMute={mayWrite(me)}
            onPin={onPin}
            onMute={onMute}
          />
        ))}
      </ol>
      {shown.length === 0 && (
        <StateView state={{ kind: "empty", title: "No finding matches the filters", next: "Clear them to see all findings." }} />
      )}
      {comparison.groups.length < comparison.n_groups && (
        <Text fz="sm" className="soft" ta="center" mt="md">
          {`The first ${formatCount(comparison.groups.length)} of ${formatCount(comparison.n_groups)} groups, by anomaly score.`}
        </Text>
      )}
    </>
  );
}
