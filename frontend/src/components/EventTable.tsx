import { Button, Group, Table, Text } from "@mantine/core";
import { IconDownload, IconFlag } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { type EventFilter, eventListQuery, eventsCsvAddress } from "../api/events";
import type { HostEvent } from "../logic/api";
import { toTags } from "../logic/event";
import { formatCount } from "../logic/number";
import { type EpochMs, fromApi } from "../logic/time";
import { parseInstant, type Zone, zoneLabel } from "../logic/zone";
import { readNow } from "../state/clock";
import { DEFAULT_EVENT_LIST, type EventListView } from "../state/events";
import type { Clock } from "../state/url";
import { EventDialog } from "./EventDialog";
import { EventFilters } from "./EventFilters";
import { ChosenWindow, type Ends, EventTableRow } from "./EventTableRow";
import { mayWrite, useMe } from "./me";
import { ScrollCard } from "./ScrollCard";
import { PendingView, StateView } from "./StateView";
import { useEventDeletion } from "./useEventDeletion";
import { useSettled } from "./useSettled";
import { counted } from "../logic/counted";

const PAGE_SIZE = 100;

interface EventTableProps {
  /** The host whose page shows the list; null on the page of all events. */
  readonly host: string | null;
  readonly view: EventListView;
  readonly zone: Zone;
  readonly clock: Clock;
  readonly onView: (change: Partial<EventListView>) => void;
}

/** A list of events that can be searched and filtered, page by page; two of them choose a window. */
export function EventTable({ host, view, zone, clock, onView }: EventTableProps) {
  const me = useMe();
  const [dialog, setDialog] = useState<{ readonly event: HostEvent | null; readonly at: EpochMs } | null>(null);
  const [ends, setEnds] = useState<Ends>({ from: null, to: null });
  const deleteEvent = useEventDeletion();
  const { from, to } = view;
  // Read when they are typed: a relative time moves on with the next change, not with every render.
  const times = useMemo(() => readTimes(from, to, zone, readNow()), [from, to, zone]);
  const search = useSettled(view.search);
  const { hosts, kinds, tags } = view;
  const filter: EventFilter = { hosts, kinds, tags, search, start: times.start, end: times.end };
  const list = useQuery(eventListQuery(filter, view.page * PAGE_SIZE, PAGE_SIZE));
  const page = list.data;
  const isFiltered =
    view.search !== "" || from !== "" || to !== "" || kinds.length + tags.length > 0 || (host === null && hosts.length > 0);
  return (
    <>
      <EventFilters host={host} view={view} zone={zone} problem={times.problem} onView={onView}>
        <Button component="a" href={eventsCsvAddress(filter)} variant="default" leftSection={<IconDownload size={14} />} download>
          CSV
        </Button>
        {mayWrite(me) && (
          <Button
            variant="light"
            leftSection={<IconFlag size={14} />}
            onClick={() => {
              setDialog({ event: null, at: readNow() });
            }}
          >
            Note an event…
          </Button>
        )}
      </EventFilters>
      <ChosenWindow ends={ends} host={host} hosts={hosts} zone={zone} clock={clock} onEnds={setEnds} />
      <ScrollCard label="Events">
        {page === undefined ? (
          <PendingView query={list} what="events" />
        ) : page.events.length === 0 ? (
          <StateView state={emptyState(isFiltered || view.page > 0, onView, host)} />
        ) : (
          <Table aria-label="Events" className="event-table">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{`When (${zoneLabel(zone, readNow())})`}</Table.Th>
                <Table.Th>Kind</Table.Th>
                <Table.Th>What happened</Table.Th>
                <Table.Th>Hosts</Table.Th>
                <Table.Th>By</Table.Th>
                <Table.Th>Window</Table.Th>
                <Table.Th />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {page.events.map((event, row) => (
                <EventTableRow
                  key={event.id ?? `${event.at} ${event.text} ${String(row)}`}
                  event={event}
                  host={host}
                  zone={zone}
                  clock={clock}
                  ends={ends}
                  mayWrite={mayWrite(me)}
                  onEnds={setEnds}
                  onTag={(tag) => {
                    onView({ tags: toTags([...tags, tag]) });
                  }}
                  onChange={() => {
                    setDialog({ event, at: fromApi(event.at) });
                  }}
                  onDelete={() => {
                    deleteEvent(event);
                  }}
                />
              ))}
            </Table.Tbody>
          </Table>
        )}
      </ScrollCard>
      {page && (
        <Pages
          page={view.page}
          nShown={page.events.length}
          nTotal={page.n_total}
          onPage={(number) => {
            onView({ page: number });
          }}
        />
      )}
      {page?.has_facts === false && (
        <Text fz="xs" className="soft" mt={6}>
          Reboots and changed settings are listed when hosts are chosen.
        </Text>
      )}
      {dialog && (
        <EventDialog
          host={host}
          event={dialog.event}
          at={dialog.at}
          end={null}
          zone={zone}
          onClose={() => {
            setDialog(null);
          }}
        />
      )}
    </>
  );
}

function emptyState(isFiltered: boolean, onView: EventTableProps["onView"], host: string | null) {
  return isFiltered
    ? ({
        kind: "empty",
        title: "No events match",
        next: (
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => {
              onView({ ...DEFAULT_EVENT_LIST, hosts: host === null ? [] : [host] });
            }}
          >
            Show all events
          </Button>
        ),
      } as const)
    : ({
        kind: "empty",
        title: "No events yet",
        next: 'Press n on a host\'s graphs, run `normstat event add "deployed 1.4"`, or let an agent watch a log file.',
      } as const);
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
        {nTotal > nShown && nShown > 0
          ? `${formatCount(first + 1)}–${formatCount(first + nShown)} of ${counted(nTotal, "event")}`
          : counted(nTotal, "event")}
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
            Newer
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            disabled={first + nShown >= nTotal}
            onClick={() => {
              onPage(page + 1);
            }}
          >
            Older
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
    return { start, end, problem: `“${wrong}” is no time. Type for example 2026-11-21 09:05, 09:05 or now-7d` };
  }
  if (start !== null && end !== null && end <= start) {
    return { start, end: null, problem: "The second time must be after the first" };
  }
  return { start, end, problem: null };
}
