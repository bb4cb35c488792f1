import { Group as Row, Tabs, Text } from "@mantine/core";
import { useCallbackRef } from "@mantine/hooks";
import { useMemo, useState } from "react";
import { mayWrite, useMe } from "../../components/me";
import { StateView } from "../../components/StateView";
import type { Comparison, FindingGroup, StatInfo } from "../../logic/api";
import { statOf } from "../../logic/comparison";
import { filterGroups, groupKey, sortGroups, toggledOf } from "../../logic/group";
import { formatCount } from "../../logic/number";
import { shownList } from "../../logic/story";
import type { Window } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { COMPARISON_TABS, type ComparisonView } from "../../state/comparison";
import { Filters, FilterText } from "./Filters";
import { GroupCard } from "./GroupCard";
import { InsufficientData, UnmatchedSeries } from "./Lists";
import { Muted } from "./Muted";
import { MuteDialog } from "./MuteDialog";
import type { Place } from "./link";
import { ListSwitch, Stories } from "./Stories";
import { Verdict } from "./Verdict";

interface ResultsProps {
  readonly comparison: Comparison;
  readonly stats: readonly StatInfo[];
  readonly view: ComparisonView;
  readonly incident: Window;
  readonly zone: Zone;
  readonly onChange: (change: Partial<ComparisonView>, isNew: boolean) => void;
}

/** The groups of findings, and the lists of other series. */
export function Results(props: ResultsProps) {
  const { comparison, stats, view, zone, onChange } = props;
  const { counts } = comparison;
  const place = usePlace(props);
  const list = { comparison, stats, filter: view.filter, place };
  return (
    <Tabs
      keepMounted={false}
      value={view.tab}
      onChange={(tab) => {
        onChange({ tab: COMPARISON_TABS.find((known) => known === tab) ?? "findings" }, false);
      }}
    >
      <Row justify="space-between" align="flex-end" className="results-head">
        <Tabs.List>
          <Tabs.Tab value="findings">Changed: {formatCount(comparison.n_groups)}</Tabs.Tab>
          <Tabs.Tab value="unmatched">Appeared or disappeared: {formatCount(counts.appeared + counts.disappeared)}</Tabs.Tab>
          <Tabs.Tab value="insufficient-data">Insufficient data: {formatCount(counts.insufficient_data)}</Tabs.Tab>
          <Tabs.Tab value="muted">Muted: {formatCount(counts.muted)}</Tabs.Tab>
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
      <Tabs.Panel value="unmatched" pt="sm">
        <UnmatchedSeries {...list} />
      </Tabs.Panel>
      <Tabs.Panel value="insufficient-data" pt="sm">
        <InsufficientData {...list} />
      </Tabs.Panel>
      <Tabs.Panel value="muted" pt="sm">
        <Muted {...list} zone={zone} />
      </Tabs.Panel>
    </Tabs>
  );
}

/** The target of links to a host; a stable object. */
function usePlace({ comparison, incident, view }: ResultsProps): Place {
  const { clock } = view;
  const bandId = comparison.against.baseline_id;
  return useMemo(() => ({ window: incident, clock, bandId }), [incident, clock, bandId]);
}

function Findings(props: ResultsProps) {
  const { comparison, stats, view, zone, onChange } = props;
  const me = useMe();
  const place = usePlace(props);
  const [muting, setMuting] = useState<FindingGroup | null>(null);
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
    return <Verdict comparison={comparison} stats={stats} />;
  }
  if (shownList(comparison, view.list) === "stories") {
    return <Stories {...props} place={place} />;
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
            onMute={setMuting}
          />
        ))}
      </ol>
      {shown.length === 0 && (
        <StateView state={{ kind: "empty", title: "No finding matches the filters", next: "Clear them to see all findings." }} />
      )}
      {comparison.groups.length < comparison.n_groups && (
        <Text fz="sm" className="soft" ta="center" mt="md">
          The first {formatCount(comparison.groups.length)} of {formatCount(comparison.n_groups)} groups, by anomaly score.
        </Text>
      )}
      {muting && (
        <MuteDialog
          group={muting}
          instanceTitle={statOf(stats, muting.stat)?.instance_title ?? ""}
          onClose={() => {
            setMuting(null);
          }}
        />
      )}
    </>
  );
}
