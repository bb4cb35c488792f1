import { Group, MultiSelect, TagsInput } from "@mantine/core";
import type { ReactNode } from "react";
import { EVENT_KINDS, kindLabel, MAX_TAG, toTags } from "../logic/event";
import type { Zone } from "../logic/zone";
import type { EventListView } from "../state/events";
import { FilterBar, FilterBox, HostFilter, TimeFilter } from "./ListFilters";

type OnView = (change: Partial<EventListView>) => void;

interface EventFiltersProps {
  readonly host: string | null;
  readonly view: EventListView;
  readonly zone: Zone;
  /** What is wrong with the typed times. */
  readonly problem: string | null;
  readonly onView: OnView;
  readonly children: ReactNode;
}

/** What a list of events shows: words, hosts, kinds, tags and times. */
export function EventFilters({ host, view, zone, problem, onView, children }: EventFiltersProps) {
  return (
    <FilterBar problem={problem}>
      <FilterBox
        label="Search events"
        placeholder="Words in text, tags or author"
        value={view.search}
        onChange={(search) => {
          onView({ search });
        }}
      />
      {host === null && (
        <HostFilter
          hosts={view.hosts}
          onChange={(hosts) => {
            onView({ hosts });
          }}
        />
      )}
      <MultiSelect
        size="xs"
        w={190}
        aria-label="Kinds"
        placeholder={view.kinds.length === 0 ? "all kinds" : ""}
        clearable
        data={EVENT_KINDS.map((value) => ({ value, label: kindLabel(value) }))}
        value={[...view.kinds]}
        onChange={(kinds) => {
          onView({ kinds });
        }}
      />
      <TagsInput
        size="xs"
        w={170}
        aria-label="Tags"
        placeholder={view.tags.length === 0 ? "all tags" : ""}
        splitChars={[",", " "]}
        maxTags={20}
        maxLength={MAX_TAG}
        value={[...view.tags]}
        onChange={(values) => {
          onView({ tags: toTags(values) });
        }}
      />
      <TimeFilter from={view.from} to={view.to} zone={zone} onChange={onView} />
      <Group gap="xs" ml="auto">
        {children}
      </Group>
    </FilterBar>
  );
}
