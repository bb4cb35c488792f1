import { Group, MultiSelect, Text, TextInput, Tooltip } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { hostsQuery } from "../../api/queries";
import { type Zone, zoneLabel } from "../../logic/zone";
import type { ArtefactListView } from "../../state/artefacts";
import { readNow } from "../../state/clock";

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
          aria-label="Search artefacts"
          placeholder="question, command, lock, function …"
          leftSection={<IconSearch size={14} />}
          value={view.search}
          onChange={(event) => {
            onView({ search: event.currentTarget.value });
          }}
        />
        <MultiSelect
          size="xs"
          w={200}
          aria-label="Hosts"
          placeholder={view.hosts.length === 0 ? "all hosts" : ""}
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
      </Group>
      {problem !== null && (
        <Text fz="xs" mb="sm" role="status">
          {problem}
        </Text>
      )}
    </>
  );
}
