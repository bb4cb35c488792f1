import { Text } from "@mantine/core";
import { useCallbackRef } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { seriesQuery } from "../../api/comparison";
import { mayWrite, useMe } from "../../components/me";
import { StateView } from "../../components/StateView";
import type { ComparisonInputs } from "../../logic/against";
import type { Comparison, FindingGroup, StatInfo } from "../../logic/api";
import { chipCounts, chippedGroups, chippedVerdicts } from "../../logic/change_chips";
import { statOf } from "../../logic/comparison";
import { filterGroups, groupKey, sortGroups, toggledOf } from "../../logic/group";
import { formatCount } from "../../logic/number";
import type { Verdict } from "../../logic/series_verdict";
import type { Zone } from "../../logic/zone";
import type { ComparisonView } from "../../state/comparison";
import { AskSeries } from "./AskSeries";
import { Filters } from "./Filters";
import { GroupCard } from "./GroupCard";
import type { Place } from "./link";
import { InsufficientData, UnmatchedSeries } from "./Lists";
import { Muted } from "./Muted";
import { MuteDialog } from "./MuteDialog";
import { SeriesTable } from "./SeriesTable";
import { AllClear } from "./AllClear";

/** A group that a sentence leads to; each press makes a new one. */
export interface WantedGroup {
  readonly rank: number;
}

interface ChangeListProps {
  readonly comparison: Comparison;
  /** Of a comparison that can be asked about every series. Null: a saved one has only its lists. */
  readonly inputs: ComparisonInputs | null;
  readonly stats: readonly StatInfo[];
  readonly view: ComparisonView;
  /** The target of links to a host; a stable object. */
  readonly place: Place;
  readonly zone: Zone;
  readonly wanted: WantedGroup | null;
  readonly onChange: (change: Partial<ComparisonView>, isNew: boolean) => void;
}

/** All changes, and on request all other series, in one list that chips narrow. */
export function ChangeList(props: ChangeListProps) {
  const { comparison, inputs, stats, view, place, zone, onChange } = props;
  const series = useQuery(seriesQuery(inputs, { limit: 1 })).data?.counts ?? null;
  const chips = chipCounts(comparison, series, view.chips);
  return (
    <section aria-label="All changes">
      <Filters groups={comparison.groups} hosts={comparison.hosts} chips={chips} view={view} onChange={onChange} />
      {inputs && <AskSeries comparison={comparison} inputs={inputs} view={view} place={place} onChange={onChange} />}
      <Groups {...props} />
      <OtherSeries {...props} />
      {view.chips.includes("muted") && (
        <Muted comparison={comparison} stats={stats} filter={view.filter} place={place} zone={zone} />
      )}
    </section>
  );
}

interface ChipTable {
  readonly verdict: Verdict;
  readonly sort: "significance" | "difference" | "baseline" | "incident";
  readonly label: string;
}

/** The tables of series outside the groups, each behind its chip. */
const SERIES: readonly ChipTable[] = [
  { verdict: "likely", sort: "difference", label: "Series that are likely unusual" },
  { verdict: "appeared", sort: "incident", label: "New series" },
  { verdict: "disappeared", sort: "baseline", label: "Series that are gone" },
  { verdict: "insufficient_data", sort: "difference", label: "Series without enough data" },
  { verdict: "unchanged", sort: "significance", label: "Unchanged series" },
];

/** Whether no series has enough samples for a verdict. */
function hasNoVerdict({ n_findings, n_unchanged, counts }: Comparison): boolean {
  return n_findings + n_unchanged + counts.muted === 0 && counts.insufficient_data > 0;
}

/** The series that the pressed chips show beside the groups; of a saved comparison those that it lists. */
function OtherSeries({ comparison, inputs, stats, view, place }: ChangeListProps) {
  const chips = view.chips.length === 0 && hasNoVerdict(comparison) ? (["insufficient-data"] as const) : view.chips;
  const verdicts = chippedVerdicts(chips);
  if (inputs !== null) {
    return SERIES.filter(({ verdict }) => verdicts.includes(verdict)).map(({ verdict, sort, label }) => (
      <div key={verdict} className="other-series">
        <h2>{label}</h2>
        <SeriesTable
          comparison={comparison}
          inputs={inputs}
          place={place}
          label={label}
          search={view.filter}
          verdicts={[verdict]}
          sort={sort}
          nothing="None"
        />
      </div>
    ));
  }
  const list = { comparison, stats, filter: view.filter, place };
  return (
    <>
      {(verdicts.includes("appeared") || verdicts.includes("disappeared")) && <UnmatchedSeries {...list} />}
      {verdicts.includes("insufficient_data") && <InsufficientData {...list} />}
    </>
  );
}

/** The groups that chips and filters leave, as cards, and the dialog that mutes a series of one. */
function Groups({ comparison, stats, view, place, zone, wanted, onChange }: ChangeListProps) {
  const me = useMe();
  const [muting, setMuting] = useState<FindingGroup | null>(null);
  const pins = useMemo(() => new Set(view.pins), [view.pins]);
  const { chips, filter, onlyHosts, subsystems, kinds, sort } = view;
  const shown = useMemo(
    () =>
      sortGroups(
        filterGroups(chippedGroups(comparison.groups, chips), { text: filter, hosts: onlyHosts, subsystems, kinds }),
        sort,
        pins,
      ),
    [comparison.groups, chips, filter, onlyHosts, subsystems, kinds, sort, pins],
  );
  const onPin = useCallbackRef((key: string) => {
    onChange({ pins: toggledOf(view.pins, key) }, false);
  });
  if (comparison.groups.length === 0) {
    return <AllClear comparison={comparison} stats={stats} />;
  }
  return (
    <>
      <ol className="findings" aria-label="Changes">
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
            wanted={wanted?.rank === group.rank ? wanted : null}
            onPin={onPin}
            onMute={setMuting}
          />
        ))}
      </ol>
      {shown.length === 0 && chips.length === 0 && (
        <StateView state={{ kind: "empty", title: "No finding matches the filters", next: "Clear them to see all findings." }} />
      )}
      {comparison.groups.length < comparison.n_groups && (
        <Text fz="sm" className="soft" ta="center" mt="md">
          {`The first ${formatCount(comparison.groups.length)} of ${formatCount(comparison.n_groups)} groups, by anomaly score.`}
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
