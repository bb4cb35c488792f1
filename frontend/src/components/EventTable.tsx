import { Button, Table, Text } from "@mantine/core";
import { IconDownload, IconFlag } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { type EventFilter, eventListQuery, eventsCsvAddress } from "../api/events";
import type { HostEvent } from "../logic/api";
import { toTags } from "../logic/event";
import { type EpochMs, fromApi } from "../logic/time";
import { readTimes } from "../logic/time_filter";
import { type Zone, zoneLabel } from "../logic/zone";
import { readNow } from "../state/clock";
import { DEFAULT_EVENT_LIST, type EventListView } from "../state/events";
import type { Clock } from "../state/url";
import { EventDialog } from "./EventDialog";
import { EventFilters } from "./EventFilters";
import { ChosenWindow, type Ends, EventTableRow } from "./EventTableRow";
import { FilteredList } from "./FilteredList";
import { mayWrite, useMe } from "./me";
import { useEventDeletion } from "./useEventDeletion";
import { useSettled } from "./useSettled";

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
  const events = list.data?.events ?? [];
  const isFiltered =
    view.page > 0 ||
    view.search !== "" ||
    from !== "" ||
    to !== "" ||
    kinds.length + tags.length > 0 ||
    (host === null && hosts.length > 0);
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
      <FilteredList
        label="Events"
        query={list}
        n={events.length}
        isFiltered={isFiltered}
        onAll={() => {
          onView({ ...DEFAULT_EVENT_LIST, hosts: host === null ? [] : [host] });
        }}
        next='Press n on a host&apos;s graphs, run `normstat event add "deployed 1.4"`, or let an agent watch a log file.'
        pages={{
          one: "event",
          page: view.page,
          size: PAGE_SIZE,
          nShown: events.length,
          nTotal: list.data?.n_total ?? 0,
          onPage: (page) => {
            onView({ page });
          },
        }}
      >
        <Table aria-label="Events" className="event-table">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{`When (${zoneLabel(zone, readNow())})`}</Table.Th>
              <Table.Th>Kind</Table.Th>
              <Table.Th>What happened</Table.Th>
              <Table.Th>Hosts</Table.Th>
              <Table.Th>By</Table.Th>
              <Table.Th>Window</Table.Th>
              <Table.Th>
                <span className="visually-hidden">Actions</span>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {events.map((event, row) => (
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
      </FilteredList>
      {list.data?.has_facts === false && (
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
