import { Group, Stack, Table, Text, TextInput, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { experimentsQuery } from "../../api/experiments";
import { CopyBox } from "../../components/CopyBox";
import { IgnoredNote } from "../../components/IgnoredNote";
import { Instant } from "../../components/Instant";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
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
import { words } from "../../words";

/** All experiments; without any, how to make one. */
export function ExperimentsPage() {
  useDocumentTitle(words.experiments.documentTitle);
  const raw = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeExperimentList(raw), [raw]);
  const navigate = useNavigate();
  const zone = useZone(view.clock);
  const found = useQuery(experimentsQuery(view.search));
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Group justify="space-between" mb={4}>
        <Title order={1}>{words.experiments.experiments}</Title>
        <TextInput
          size="xs"
          w={240}
          aria-label={words.experiments.search}
          placeholder={words.experiments.search}
          leftSection={<IconSearch size={14} />}
          value={view.search}
          onChange={(event) => {
            const search = encodeExperimentList({ ...view, search: event.currentTarget.value });
            void navigate({ to: "/experiments", search, replace: true });
          }}
        />
      </Group>
      <Text fz="sm" className="soft" mb="sm">
        {words.experiments.intro}
      </Text>
      <ScrollCard label={words.experiments.experiments}>
        {found.data === undefined ? (
          <PendingView query={found} what={words.experiments.loading} />
        ) : found.data.experiments.length > 0 ? (
          <ExperimentTable experiments={found.data.experiments} clock={view.clock} zone={zone} />
        ) : view.search === "" ? (
          <StateView state={{ kind: "empty", title: words.experiments.noneYet, next: <TeachRun name="xz" /> }} />
        ) : (
          <StateView
            state={{ kind: "empty", title: words.experiments.noneMatch(view.search), next: words.experiments.clearFilter }}
          />
        )}
      </ScrollCard>
    </div>
  );
}

/** How a run is made: a command to copy. */
export function TeachRun({ name }: { readonly name: string }) {
  return (
    <Stack gap="xs">
      <Text fz="sm">{words.experiments.teach}</Text>
      <CopyBox text={words.experiments.example(name)} what={words.experiments.command} />
      <Text fz="sm">{words.experiments.teachElse}</Text>
    </Stack>
  );
}

interface ExperimentTableProps {
  readonly experiments: readonly Experiment[];
  readonly clock: Clock;
  readonly zone: Zone;
}

function ExperimentTable({ experiments, clock, zone }: ExperimentTableProps) {
  const columns = words.experiments.columns;
  return (
    <Table aria-label={words.experiments.experiments}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{words.common.name}</Table.Th>
          <Table.Th>{columns.title}</Table.Th>
          <Table.Th className="number">{columns.runs}</Table.Th>
          <Table.Th>{columns.factors}</Table.Th>
          <Table.Th>{columns.hosts}</Table.Th>
          <Table.Th>{columns.last}</Table.Th>
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
            <Table.Td>
              {each.last === null ? words.experiments.runs.none : <Instant at={fromApi(each.last)} zone={zone} />}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
