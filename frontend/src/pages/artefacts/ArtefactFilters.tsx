import { Group, MultiSelect, Text, TextInput, Tooltip } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { hostsQuery } from "../../api/queries";
import { type Zone, zoneLabel } from "../../logic/zone";
import type { ArtefactListView } from "../../state/artefacts";
import { readNow } from "../../state/clock";
import { words } from "../../words";

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
  const hosts = useQuery(hostsQuery).data?.hosts.map(({ name }) => name) ?? [];
  return (
    <>
      <Group gap="xs" mb={problem === null ? "sm" : 4} align="flex-end">
        <TextInput
          size="xs"
          w={260}
          aria-label={words.artefacts.filters.search}
          placeholder={words.artefacts.filters.searchExample}
          leftSection={<IconSearch size={14} />}
          value={view.search}
          onChange={(event) => {
            onView({ search: event.currentTarget.value });
          }}
        />
        <MultiSelect
          size="xs"
          w={200}
          aria-label={words.common.hosts}
          placeholder={view.hosts.length === 0 ? words.common.allHosts : ""}
          searchable
          clearable
          limit={100}
          maxValues={20}
          data={[...new Set([...view.hosts, ...hosts])]}
          value={[...view.hosts]}
          onChange={(values) => {
            onView({ hosts: values });
          }}
        />
        <MultiSelect
          size="xs"
          w={180}
          aria-label={words.artefacts.filters.tools}
          placeholder={view.tools.length === 0 ? words.artefacts.filters.allTools : ""}
          searchable
          clearable
          data={[...new Set([...view.tools, ...tools])]}
          value={[...view.tools]}
          onChange={(values) => {
            onView({ tools: values });
          }}
        />
        {(["from", "to"] as const).map((side) => (
          <Tooltip key={side} label={words.components.eventFilters.timeExamples}>
            <TextInput
              size="xs"
              w={150}
              aria-label={
                side === "from"
                  ? words.components.eventFilters.from(zoneLabel(zone, readNow()))
                  : words.components.eventFilters.to(zoneLabel(zone, readNow()))
              }
              placeholder={side === "from" ? words.components.eventFilters.fromExample : words.components.eventFilters.toExample}
              spellCheck={false}
              value={view[side]}
              onChange={(event) => {
                onView({ [side]: event.currentTarget.value });
              }}
            />
          </Tooltip>
        ))}
      </Group>
      {problem !== null && (
        <Text fz="xs" mb="sm" role="status">
          {problem}
        </Text>
      )}
    </>
  );
}
