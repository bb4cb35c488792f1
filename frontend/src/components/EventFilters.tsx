import { Group, MultiSelect, TagsInput, Text, TextInput, Tooltip } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { hostsQuery } from "../api/queries";
import { EVENT_KINDS, kindLabel, MAX_TAG, toTags } from "../logic/event";
import { type Zone, zoneLabel } from "../logic/zone";
import { readNow } from "../state/clock";
import type { EventListView } from "../state/events";

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
    <>
      <Group gap="xs" mb={problem === null ? "sm" : 4} align="flex-end">
        <TextInput
          size="xs"
          w={220}
          aria-label="Search events"
          placeholder="Words in text, tags or author"
          leftSection={<IconSearch size={14} />}
          value={view.search}
          onChange={(event) => {
            onView({ search: event.currentTarget.value });
          }}
        />
        {host === null && <HostFilter hosts={view.hosts} onView={onView} />}
        <MultiSelect
          size="xs"
          w={190}
          aria-label="Kinds"
          placeholder={view.kinds.length === 0 ? "all kinds" : ""}
          clearable
          data={EVENT_KINDS.map((value) => ({ value, label: kindLabel(value) }))}
          value={[...view.kinds]}
          onChange={(values) => {
            onView({ kinds: EVENT_KINDS.filter((kind) => values.includes(kind)) });
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
        {(["from", "to"] as const).map((side) => (
          <Tooltip key={side} label="2026-11-21 09:05, 09:05 (today), now-7d">
            <TextInput
              size="xs"
              w={150}
              aria-label={side === "from" ? `From (${zoneLabel(zone, readNow())})` : `To (${zoneLabel(zone, readNow())})`}
              placeholder={side === "from" ? "from: now-7d" : "to: now"}
              spellCheck={false}
              value={view[side]}
              onChange={(event) => {
                onView({ [side]: event.currentTarget.value });
              }}
            />
          </Tooltip>
        ))}
        <Group gap="xs" ml="auto">
          {children}
        </Group>
      </Group>
      {problem !== null && (
        <Text fz="xs" mb="sm" role="status">
          {problem}
        </Text>
      )}
    </>
  );
}

function HostFilter({ hosts, onView }: { readonly hosts: readonly string[]; readonly onView: OnView }) {
  const known = useQuery(hostsQuery).data?.hosts.map(({ name }) => name) ?? [];
  return (
    <MultiSelect
      size="xs"
      w={200}
      aria-label="Hosts"
      placeholder={hosts.length === 0 ? "all hosts" : ""}
      searchable
      clearable
      limit={100}
      maxValues={20}
      data={[...new Set([...hosts, ...known])]}
      value={[...hosts]}
      onChange={(values) => {
        onView({ hosts: values });
      }}
    />
  );
}
