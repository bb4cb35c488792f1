import { Group, Stack, Table, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { experimentsQuery } from "../../api/experiments";
import { CopyBox } from "../../components/CopyBox";
import { FilteredList } from "../../components/FilteredList";
import { FilterBox } from "../../components/ListFilters";
import { IgnoredNote } from "../../components/IgnoredNote";
import { Instant } from "../../components/Instant";
import { PageLink } from "../../components/PageLink";
import { useZone } from "../../components/zone";
import type { Experiment } from "../../logic/api";
import { fromApi } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import {
  decodeExperimentList,
  DEFAULT_EXPERIMENT_VIEW,
  encodeExperimentList,
  encodeExperimentView,
} from "../../state/experiment";
import type { Clock } from "../../state/zone_choice";

/** All experiments; without any, how to make one. */
export function ExperimentsPage() {
  useDocumentTitle("Experiments · normstat");
  const raw = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeExperimentList(raw), [raw]);
  const navigate = useNavigate();
  const zone = useZone(view.clock);
  const found = useQuery(experimentsQuery(view.search));
  const experiments = found.data?.experiments ?? [];
  const filterBy = (search: string): void => {
    void navigate({ to: "/experiments", search: encodeExperimentList({ ...view, search }), replace: true });
  };
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Group justify="space-between" mb={4}>
        <Title order={1}>Experiments</Title>
        <FilterBox label="Filter by name or note" value={view.search} onChange={filterBy} />
      </Group>
      <Text fz="sm" className="soft" mb="sm">
        Named runs of a command with factors (threads=4, size=8G), repeated: what is faster, by how much, and what limits it.
      </Text>
      <FilteredList
        label="Experiments"
        query={found}
        n={experiments.length}
        isFiltered={view.search !== ""}
        words={view.search}
        onAll={() => {
          filterBy("");
        }}
        next={<TeachRun name="xz" />}
      >
        <ExperimentTable experiments={experiments} clock={view.clock} zone={zone} />
      </FilteredList>
    </div>
  );
}

/** How a run is made: a command to copy. */
export function TeachRun({ name }: { readonly name: string }) {
  return (
    <Stack gap="xs">
      <Text fz="sm">
        Measure a command on any host that has normstat. Run it with another level of the factor, then come back:
      </Text>
      <CopyBox text={`normstat run --experiment ${name} --factor threads=1 --repeat 3 -- xz -k -f -T1 big.tar`} what="command" />
      <Text fz="sm">
        On another host than the server set NORMSTAT_SERVER and NORMSTAT_API_TOKEN first. An artefact of IOzone or time becomes an
        experiment on its own page, and a marked window of a host becomes a run with “Add as run”.
      </Text>
    </Stack>
  );
}

interface ExperimentTableProps {
  readonly experiments: readonly Experiment[];
  readonly clock: Clock;
  readonly zone: Zone;
}

function ExperimentTable({ experiments, clock, zone }: ExperimentTableProps) {
  return (
    <Table aria-label="Experiments">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Name</Table.Th>
          <Table.Th>Title</Table.Th>
          <Table.Th className="number">Runs</Table.Th>
          <Table.Th>Factors</Table.Th>
          <Table.Th>Hosts</Table.Th>
          <Table.Th>Last run</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {experiments.map((each) => (
          <Table.Tr key={each.id}>
            <Table.Td>
              <PageLink
                to="/experiments/$experiment"
                params={{ experiment: String(each.id) }}
                search={encodeExperimentView({ ...DEFAULT_EXPERIMENT_VIEW, clock })}
                fz="sm"
                fw={600}
              >
                {each.name}
              </PageLink>
            </Table.Td>
            <Table.Td>{each.title}</Table.Td>
            <Table.Td className="number">{each.n_runs}</Table.Td>
            <Table.Td>{each.factors.join(", ")}</Table.Td>
            <Table.Td>{each.hosts.join(", ")}</Table.Td>
            <Table.Td>{each.last === null ? "–" : <Instant at={fromApi(each.last)} zone={zone} />}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
