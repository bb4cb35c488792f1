import { Button, Checkbox, Group, Table, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconArrowsDiff, IconUpload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { type ArtefactFilter, artefactListQuery } from "../../api/artefacts";
import { ArtefactRow } from "../../components/ArtefactRow";
import { IgnoredNote } from "../../components/IgnoredNote";
import { mayWrite, useMe } from "../../components/me";
import { PageButton } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { useArtefactDeletion } from "../../components/useArtefactDeletion";
import { useSettled } from "../../components/useSettled";
import { useZone } from "../../components/zone";
import type { Artefact } from "../../logic/api";
import { inTime } from "../../logic/artefact";
import { formatCount } from "../../logic/number";
import type { EpochMs } from "../../logic/time";
import { parseInstant, type Zone, zoneLabel } from "../../logic/zone";
import { readNow } from "../../state/clock";
import {
  type ArtefactListView,
  decodeArtefactList,
  DEFAULT_ARTEFACT_LIST,
  encodeArtefactList,
  encodeArtefactPair,
} from "../../state/artefacts";
import { ArtefactFilters } from "./ArtefactFilters";
import { MakeArtefact } from "./MakeArtefact";
import { UploadDialog } from "./UploadDialog";
import { words } from "../../words";
import "./artefacts.css";

const PAGE_SIZE = 100;
/** The page that compares two. */
const DIFF = { artefact: "diff" } as const;

/** All artefacts, newest first; two of them can be compared. */
export function ArtefactsPage() {
  useDocumentTitle(words.artefacts.list.documentTitle);
  const raw = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeArtefactList(raw), [raw]);
  const navigate = useNavigate();
  const me = useMe();
  const zone = useZone(view.clock);
  const { remove } = useArtefactDeletion();
  const [selected, setSelected] = useState<readonly Artefact[]>([]);
  const [isUploading, setUploading] = useState(false);
  const onView = (change: Partial<ArtefactListView>): void => {
    void navigate({ to: "/artefacts", search: encodeArtefactList({ ...view, page: 0, ...change }), replace: true });
  };
  const { from, to } = view;
  // Read when they are typed: a relative time moves on with the next change, not with every render.
  const times = useMemo(() => readTimes(from, to, zone, readNow()), [from, to, zone]);
  const search = useSettled(view.search);
  const filter: ArtefactFilter = { hosts: view.hosts, tools: view.tools, search, start: times.start, end: times.end };
  const list = useQuery(artefactListQuery(filter, view.page * PAGE_SIZE, PAGE_SIZE));
  const page = list.data;
  const isFiltered = view.hosts.length + view.tools.length > 0 || view.search !== "" || from !== "" || to !== "" || view.page > 0;
  const [a, b] = selected;
  const pair = a !== undefined && b !== undefined ? inTime(a, b) : null;
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Group justify="space-between" mb="xs" align="flex-start">
        <div>
          <Title order={1}>{words.artefacts.list.artefacts}</Title>
          <Text fz="sm" className="soft" maw={760}>
            {words.artefacts.list.lead}
          </Text>
        </div>
        {mayWrite(me) && (
          <Button
            leftSection={<IconUpload size={15} aria-hidden />}
            onClick={() => {
              setUploading(true);
            }}
          >
            {words.artefacts.upload.upload}
          </Button>
        )}
      </Group>
      <ArtefactFilters view={view} tools={page?.tools ?? []} zone={zone} problem={times.problem} onView={onView} />
      {selected.length > 0 && (
        <Group gap="sm" mb="sm" role="region" aria-label={words.artefacts.list.selection}>
          <Text fz="sm">{words.artefacts.list.nSelected(selected.length)}</Text>
          {pair === null ? (
            <Text fz="sm" className="soft">
              {words.artefacts.list.selectAnother}
            </Text>
          ) : (
            <PageButton
              to="/artefacts/$artefact"
              params={DIFF}
              search={encodeArtefactPair(pair[0].id, pair[1].id, view.clock)}
              size="compact-sm"
              leftSection={<IconArrowsDiff size={14} aria-hidden />}
            >
              {words.common.compare}
            </PageButton>
          )}
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => {
              setSelected([]);
            }}
          >
            {words.artefacts.list.clear}
          </Button>
        </Group>
      )}
      <ScrollCard label={words.artefacts.list.artefacts}>
        {page === undefined ? (
          <PendingView query={list} what={words.artefacts.list.artefactsInText} />
        ) : page.artefacts.length === 0 ? (
          isFiltered ? (
            <StateView
              state={{
                kind: "empty",
                title: words.artefacts.list.noneMatch,
                next: (
                  <Button
                    size="compact-xs"
                    variant="default"
                    onClick={() => {
                      onView(DEFAULT_ARTEFACT_LIST);
                    }}
                  >
                    {words.artefacts.list.showAll}
                  </Button>
                ),
              }}
            />
          ) : (
            <StateView state={{ kind: "empty", title: words.artefacts.list.noneYet, next: <MakeArtefact /> }} />
          )
        ) : (
          <Table aria-label={words.artefacts.list.artefacts} highlightOnHover>
            <Table.Thead>
              <Table.Tr>
                <Table.Th w={34} />
                <Table.Th>{words.artefacts.list.when(zoneLabel(zone, readNow()))}</Table.Th>
                <Table.Th>{words.common.host}</Table.Th>
                <Table.Th>{words.artefacts.list.tool}</Table.Th>
                <Table.Th>{words.artefacts.list.question}</Table.Th>
                <Table.Th>{words.artefacts.list.holds}</Table.Th>
                <Table.Th>{words.common.by}</Table.Th>
                <Table.Th />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {page.artefacts.map((artefact) => (
                <ArtefactRow
                  key={artefact.id}
                  artefact={artefact}
                  zone={zone}
                  clock={view.clock}
                  mark={
                    <Checkbox
                      size="xs"
                      aria-label={words.artefacts.list.select(String(artefact.id))}
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
        )}
      </ScrollCard>
      {page !== undefined && page.n_total > 0 && (
        <Pages
          page={view.page}
          nShown={page.artefacts.length}
          nTotal={page.n_total}
          onPage={(number) => {
            onView({ page: number });
          }}
        />
      )}
      {isUploading && (
        <UploadDialog
          zone={zone}
          clock={view.clock}
          host={view.hosts[0] ?? ""}
          onClose={() => {
            setUploading(false);
          }}
        />
      )}
    </div>
  );
}

interface PagesProps {
  readonly page: number;
  readonly nShown: number;
  readonly nTotal: number;
  readonly onPage: (page: number) => void;
}

function Pages({ page, nShown, nTotal, onPage }: PagesProps) {
  const first = page * PAGE_SIZE;
  return (
    <Group gap="sm" mt="sm">
      <Text fz="sm" className="soft" role="status">
        {nTotal > nShown
          ? words.artefacts.list.range(formatCount(first + 1), formatCount(first + nShown), nTotal)
          : words.artefacts.list.nArtefact(nTotal)}
      </Text>
      {(page > 0 || first + nShown < nTotal) && (
        <>
          <Button
            size="compact-sm"
            variant="default"
            disabled={page === 0}
            onClick={() => {
              onPage(page - 1);
            }}
          >
            {words.artefacts.list.newer}
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            disabled={first + nShown >= nTotal}
            onClick={() => {
              onPage(page + 1);
            }}
          >
            {words.artefacts.list.older}
          </Button>
        </>
      )}
    </Group>
  );
}

/** Return the typed times, and what is wrong with them; what cannot be read filters nothing. */
function readTimes(from: string, to: string, zone: Zone, now: EpochMs) {
  const start = from.trim() === "" ? null : parseInstant(from, zone, now);
  const end = to.trim() === "" ? null : parseInstant(to, zone, now);
  const wrong = from.trim() !== "" && start === null ? from : to.trim() !== "" && end === null ? to : null;
  if (wrong !== null) {
    return { start, end, problem: words.components.eventTable.noTimeTypeExample(wrong) };
  }
  if (start !== null && end !== null && end <= start) {
    return { start, end: null, problem: words.components.eventTable.secondTimeMustAfter };
  }
  return { start, end, problem: null };
}
