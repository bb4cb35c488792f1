import { MultiSelect } from "@mantine/core";
import { FilterBar, FilterBox, HostFilter, TimeFilter } from "../../components/ListFilters";
import type { Zone } from "../../logic/zone";
import type { ArtefactListView } from "../../state/artefacts";

interface ArtefactFiltersProps {
  readonly view: ArtefactListView;
  /** All tools that there are artefacts of. */
  readonly tools: readonly string[];
  readonly zone: Zone;
  /** What is wrong with the typed times. */
  readonly problem: string | null;
  readonly onView: (change: Partial<ArtefactListView>) => void;
}

/** What the list of artefacts shows: words, hosts, tools and times. */
export function ArtefactFilters({ view, tools, zone, problem, onView }: ArtefactFiltersProps) {
  return (
    <FilterBar problem={problem}>
      <FilterBox
        label="Search artefacts"
        placeholder="question, command, lock, function …"
        value={view.search}
        onChange={(search) => {
          onView({ search });
        }}
      />
      <HostFilter
        hosts={view.hosts}
        onChange={(hosts) => {
          onView({ hosts });
        }}
      />
      <MultiSelect
        size="xs"
        w={180}
        aria-label="Tools"
        placeholder={view.tools.length === 0 ? "all tools" : ""}
        searchable
        clearable
        data={[...new Set([...view.tools, ...tools])]}
        value={[...view.tools]}
        onChange={(values) => {
          onView({ tools: values });
        }}
      />
      <TimeFilter from={view.from} to={view.to} zone={zone} onChange={onView} />
    </FilterBar>
  );
}
