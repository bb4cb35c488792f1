import { Button, Checkbox, Group, Table, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconArrowsDiff, IconUpload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { type ArtefactFilter, artefactListQuery } from "../../api/artefacts";
import { ArtefactRow } from "../../components/ArtefactRow";
import { FilteredList } from "../../components/FilteredList";
import { IgnoredNote } from "../../components/IgnoredNote";
import { mayWrite, useMe } from "../../components/me";
import { PageButton } from "../../components/PageLink";
import { useArtefactDeletion } from "../../components/useArtefactDeletion";
import { useSettled } from "../../components/useSettled";
import { useZone } from "../../components/zone";
import type { Artefact } from "../../logic/api";
import { inTime } from "../../logic/artefact";
import { readTimes } from "../../logic/time_filter";
import { zoneLabel } from "../../logic/zone";
import { readNow } from "../../state/clock";
import {
  type ArtefactListView,
  decodeArtefactList,
  DEFAULT_ARTEFACT_LIST,
  encodeArtefactList,
  encodeArtefactPair,
} from "../../state/artefacts";
import { encodeImportsView } from "../../state/url";
import { ArtefactFilters } from "./ArtefactFilters";
import { MakeArtefact } from "./MakeArtefact";
import { counted } from "../../logic/counted";
import "./artefacts.css";

const PAGE_SIZE = 100;

/** All artefacts, newest first; two of them can be compared. */
export function ArtefactsPage() {
  useDocumentTitle("Artefacts · normstat");
  const raw = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeArtefactList(raw), [raw]);
  const navigate = useNavigate();
  const me = useMe();
  const zone = useZone(view.clock);
  const { remove } = useArtefactDeletion();
  const [selected, setSelected] = useState<readonly Artefact[]>([]);
  const onView = (change: Partial<ArtefactListView>): void => {
    void navigate({ to: "/artefacts", search: encodeArtefactList({ ...view, page: 0, ...change }), replace: true });
  };
  const { from, to } = view;
  // Read when they are typed: a relative time moves on with the next change, not with every render.
  const times = useMemo(() => readTimes(from, to, zone, readNow()), [from, to, zone]);
  const search = useSettled(view.search);
  const filter: ArtefactFilter = { hosts: view.hosts, tools: view.tools, search, start: times.start, end: times.end };
  const list = useQuery(artefactListQuery(filter, view.page * PAGE_SIZE, PAGE_SIZE));
  const artefacts = list.data?.artefacts ?? [];
  const isFiltered = view.hosts.length + view.tools.length > 0 || view.search !== "" || from !== "" || to !== "" || view.page > 0;
  const [a, b] = selected;
  const pair = a !== undefined && b !== undefined ? inTime(a, b) : null;
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Group justify="space-between" mb="xs" align="flex-start">
        <div>
          <Title order={1}>Artefacts</Title>
          <Text fz="sm" className="soft" maw={760}>
            What a tool printed once to answer a question: locks, stacks, distributions, system calls.
          </Text>
        </div>
        {mayWrite(me) && (
          <PageButton
            to="/imports"
            search={encodeImportsView({ clock: view.clock, host: view.hosts[0] ?? "", importId: null })}
            leftSection={<IconUpload size={15} aria-hidden />}
          >
            Import files
          </PageButton>
        )}
      </Group>
      <ArtefactFilters view={view} tools={list.data?.tools ?? []} zone={zone} problem={times.problem} onView={onView} />
      {selected.length > 0 && (
        <Group gap="sm" mb="sm" role="region" aria-label="Selected artefacts">
          <Text fz="sm">{counted(selected.length, "artefact selected", "artefacts selected")}</Text>
          {pair === null ? (
            <Text fz="sm" className="soft">
              Select another one to compare them.
            </Text>
          ) : (
            <PageButton
              to="/artefacts/diff"
              search={encodeArtefactPair(pair[0].id, pair[1].id, view.clock)}
              size="compact-sm"
              leftSection={<IconArrowsDiff size={14} aria-hidden />}
            >
              Compare
            </PageButton>
          )}
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => {
              setSelected([]);
            }}
          >
            Clear
          </Button>
        </Group>
      )}
      <FilteredList
        label="Artefacts"
        query={list}
        n={artefacts.length}
        isFiltered={isFiltered}
        onAll={() => {
          onView(DEFAULT_ARTEFACT_LIST);
        }}
        next={<MakeArtefact />}
        pages={{
          one: "artefact",
          page: view.page,
          size: PAGE_SIZE,
          nShown: artefacts.length,
          nTotal: list.data?.n_total ?? 0,
          onPage: (page) => {
            onView({ page });
          },
        }}
      >
        <Table aria-label="Artefacts" highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={34} />
              <Table.Th>{`When (${zoneLabel(zone, readNow())})`}</Table.Th>
              <Table.Th>Host</Table.Th>
              <Table.Th>Tool</Table.Th>
              <Table.Th>Question or command</Table.Th>
              <Table.Th>Contents</Table.Th>
              <Table.Th>By</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {artefacts.map((artefact) => (
              <ArtefactRow
                key={artefact.id}
                artefact={artefact}
                zone={zone}
                clock={view.clock}
                mark={
                  <Checkbox
                    size="xs"
                    aria-label={`Select artefact ${String(artefact.id)}`}
                    checked={selected.some(({ id }) => id === artefact.id)}
                    disabled={selected.length >= 2 && !selected.some(({ id }) => id === artefact.id)}
                    onChange={(event) => {
                      const others = selected.filter(({ id }) => id !== artefact.id);
                      setSelected(event.currentTarget.checked ? [...others, artefact] : others);
                    }}
                  />
                }
                {...(mayWrite(me)
                  ? {
                      onDelete: () => {
                        setSelected(selected.filter(({ id }) => id !== artefact.id));
                        remove(artefact);
                      },
                    }
                  : {})}
              />
            ))}
          </Table.Tbody>
        </Table>
      </FilteredList>
    </div>
  );
}
