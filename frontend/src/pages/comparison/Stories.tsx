import { SegmentedControl } from "@mantine/core";
import { useMemo, useState } from "react";
import { mayWrite, useMe } from "../../components/me";
import type { Comparison, FindingGroup, StatInfo } from "../../logic/api";
import { byRank, MAX_STORIES, storiesOf } from "../../logic/story";
import type { Zone } from "../../logic/zone";
import type { ChangeList, ComparisonView } from "../../state/comparison";
import type { Place } from "./link";
import { StoryRow } from "./StoryRow";
import { counted } from "../../logic/counted";

interface ListSwitchProps {
  readonly comparison: Comparison;
  readonly list: ChangeList;
  readonly onChange: (change: Partial<ComparisonView>, isNew: boolean) => void;
}

/** Stories or all changes; nothing to choose without stories. */
export function ListSwitch({ comparison, list, onChange }: ListSwitchProps) {
  return storiesOf(comparison).length === 0 ? null : (
    <div className="list-switch no-print">
      <SegmentedControl
        size="xs"
        aria-label="List"
        value={list}
        data={[
          { value: "stories", label: "Stories" },
          { value: "changes", label: "All changes" },
        ]}
        onChange={(value) => {
          onChange({ list: value === "changes" ? "changes" : "stories" }, false);
        }}
      />
    </div>
  );
}

interface StoriesProps {
  readonly comparison: Comparison;
  readonly stats: readonly StatInfo[];
  readonly view: ComparisonView;
  readonly zone: Zone;
  readonly place: Place;
  readonly onChange: (change: Partial<ComparisonView>, isNew: boolean) => void;
  readonly onMute: (group: FindingGroup) => void;
}

/** What happened, a row for each story; the culprit first. */
export function Stories({ comparison, stats, view, zone, place, onChange, onMute }: StoriesProps) {
  const me = useMe();
  const [hasAll, setAll] = useState(false);
  const ranked = useMemo(() => byRank(comparison.groups), [comparison.groups]);
  const stories = storiesOf(comparison);
  const shown = hasAll ? stories : stories.slice(0, MAX_STORIES);
  return (
    <>
      <ListSwitch comparison={comparison} list="stories" onChange={onChange} />
      <ol className="stories" aria-label="Stories">
        {shown.map((story) => (
          <StoryRow
            key={story.rank}
            story={story}
            ranked={ranked}
            ledger={comparison.ledger}
            stats={stats}
            place={place}
            zone={zone}
            align={view.align}
            hasManyHosts={comparison.hosts.length > 1}
            mayMute={mayWrite(me)}
            onMute={onMute}
          />
        ))}
      </ol>
      {shown.length < stories.length && (
        <button
          type="button"
          className="card-button"
          onClick={() => {
            setAll(true);
          }}
        >
          {`Show ${counted(stories.length - shown.length, "more story", "more stories")}`}
        </button>
      )}
    </>
  );
}
