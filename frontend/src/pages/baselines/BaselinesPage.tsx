import { ActionIcon, Group, Table, Text, TextInput, Title, Tooltip } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconPencil, IconSearch, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { baselinesQuery } from "../../api/queries";
import { IgnoredNote } from "../../components/IgnoredNote";
import { Instant } from "../../components/Instant";
import { mayWrite, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { StateView } from "../../components/StateView";
import type { BaselineInfo } from "../../logic/api";
import { filterBaselines, totalLength } from "../../logic/baseline";
import { toWindow } from "../../logic/comparison";
import { plural } from "../../logic/number";
import { surroundings } from "../../logic/range";
import { describeDuration, fromApi } from "../../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../../logic/zone";
import { readNow, zoneOf } from "../../state/clock";
import { type Clock, decodeListView, DEFAULT_HOST_VIEW, encodeHostView, encodeListView } from "../../state/url";
import { DeleteBaselineDialog, EditBaselineDialog } from "./BaselineDialogs";

/** All periods that were marked as normal. */
export function BaselinesPage() {
  useDocumentTitle("Baselines · normstat");
  const search = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeListView(search), [search]);
  const navigate = useNavigate();
  const baselines = useQuery(baselinesQuery(null));
  const all = baselines.data?.baselines ?? [];
  const shown = filterBaselines(all, view.filter);
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <Group justify="space-between" mb="sm">
        <Group gap="sm">
          <Title order={1}>Baselines</Title>
          {baselines.data && (
            <Text fz="sm" className="soft">
              {plural(all.length, "baseline")}
            </Text>
          )}
        </Group>
        {all.length > 1 && (
          <TextInput
            size="xs"
            aria-label="Filter baselines"
            placeholder="Filter by name, host or note"
            leftSection={<IconSearch size={14} />}
            value={view.filter}
            onChange={(event) => {
              void navigate({
                to: "/baselines",
                search: encodeListView({ ...view, filter: event.currentTarget.value }),
                replace: true,
              });
            }}
          />
        )}
      </Group>
      <ScrollCard label="Baselines">
        {baselines.data === undefined ? (
          <StateView
            state={
              baselines.error
                ? { kind: "error", error: baselines.error, onRetry: () => void baselines.refetch() }
                : { kind: "loading", what: "baselines" }
            }
          />
        ) : shown.length === 0 ? (
          <StateView
            state={
              all.length === 0
                ? {
                    kind: "empty",
                    title: "Nothing is marked as normal yet",
                    next: (
                      <>
                        Open a{" "}
                        <PageLink to="/hosts" search={{}}>
                          host
                        </PageLink>
                        , press <b>m</b>, drag over a time when all was well, and choose <i>Mark as baseline</i>. Later windows
                        are compared with it.
                      </>
                    ),
                  }
                : { kind: "empty", title: `No baseline matches “${view.filter}”`, next: "Clear the filter to see all." }
            }
          />
        ) : (
          <BaselineTable baselines={shown} clock={view.clock} />
        )}
      </ScrollCard>
    </div>
  );
}

interface BaselineTableProps {
  readonly baselines: readonly BaselineInfo[];
  readonly clock: Clock;
}

function BaselineTable({ baselines, clock }: BaselineTableProps) {
  const me = useMe();
  const zone = zoneOf(clock);
  const [editing, setEditing] = useState<BaselineInfo | null>(null);
  const [deleting, setDeleting] = useState<BaselineInfo | null>(null);
  return (
    <>
      <Table aria-label="Baselines">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Hosts: open at that time</Table.Th>
            <Table.Th>Windows ({zoneLabel(zone, readNow())})</Table.Th>
            <Table.Th className="number">Length</Table.Th>
            <Table.Th>Note</Table.Th>
            <Table.Th>Marked by</Table.Th>
            <Table.Th>Marked</Table.Th>
            <Table.Th />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {baselines.map((baseline) => (
            <Table.Tr key={baseline.id}>
              <Table.Td fw={600}>{baseline.name}</Table.Td>
              <Table.Td>
                <Group gap={8}>
                  {baseline.hosts.map((host) => (
                    <HostLink key={host} host={host} baseline={baseline} clock={clock} />
                  ))}
                </Group>
              </Table.Td>
              <Table.Td>
                <Windows baseline={baseline} zone={zone} />
              </Table.Td>
              <Table.Td className="number">{describeDuration(totalLength(baseline))}</Table.Td>
              <Table.Td maw={420} style={{ whiteSpace: "pre-wrap" }}>
                {baseline.note}
              </Table.Td>
              <Table.Td>{baseline.created_by}</Table.Td>
              <Table.Td>
                <Instant at={fromApi(baseline.created_at)} zone={zone} />
              </Table.Td>
              <Table.Td>
                {mayWrite(me) && (
                  <Group gap={2} wrap="nowrap" justify="flex-end">
                    <Tooltip label="Rename, or change the note">
                      <ActionIcon
                        aria-label={`Edit ${baseline.name}`}
                        onClick={() => {
                          setEditing(baseline);
                        }}
                      >
                        <IconPencil size={15} />
                      </ActionIcon>
                    </Tooltip>
                    <Tooltip label="Delete; the samples stay">
                      <ActionIcon
                        aria-label={`Delete ${baseline.name}`}
                        onClick={() => {
                          setDeleting(baseline);
                        }}
                      >
                        <IconTrash size={15} />
                      </ActionIcon>
                    </Tooltip>
                  </Group>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {editing && (
        <EditBaselineDialog
          baseline={editing}
          onClose={() => {
            setEditing(null);
          }}
        />
      )}
      {deleting && (
        <DeleteBaselineDialog
          baseline={deleting}
          onClose={() => {
            setDeleting(null);
          }}
        />
      )}
    </>
  );
}

interface HostLinkProps {
  readonly host: string;
  readonly baseline: BaselineInfo;
  readonly clock: Clock;
}

function HostLink({ host, baseline, clock }: HostLinkProps) {
  const [first] = baseline.windows;
  const range = first && ({ kind: "fixed", window: surroundings(toWindow(first), 0.1) } as const);
  return (
    <PageLink
      to="/hosts/$host"
      params={{ host }}
      search={encodeHostView({ ...DEFAULT_HOST_VIEW, clock, ...(range === undefined ? {} : { range }) })}
    >
      {host}
    </PageLink>
  );
}

function Windows({ baseline, zone }: { readonly baseline: BaselineInfo; readonly zone: Zone }) {
  const [first, ...more] = baseline.windows.map(toWindow);
  if (first === undefined) {
    return "none";
  }
  return (
    <Tooltip label={[first, ...more].map((window) => formatWindow(zone, window)).join("; ")}>
      <span>
        {formatWindow(zone, first)}
        {more.length > 0 && ` and ${plural(more.length, "more window")}`}
      </span>
    </Tooltip>
  );
}
