import { ActionIcon, Anchor, Button, Group, MultiSelect, Table, TagsInput, Text, TextInput, Tooltip } from "@mantine/core";
import { IconDownload, IconFlag, IconPencil, IconSearch, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { type EventFilter, eventListQuery, eventsCsvAddress } from "../api/events";
import { hostsQuery } from "../api/queries";
import type { HostEvent } from "../logic/api";
import {
  describeEarliest,
  describeHosts,
  describeSource,
  EVENT_KINDS,
  eventSurroundings,
  kindLabel,
  MAX_TAG,
  mayChange,
  toTags,
  windowBetweenEvents,
} from "../logic/event";
import { formatCount, plural } from "../logic/number";
import { describeDuration, type EpochMs, fromApi, lengthOf, toDurationMs, type Window } from "../logic/time";
import { formatWindow, parseInstant, type Zone, zoneLabel } from "../logic/zone";
import { readNow } from "../state/clock";
import { DEFAULT_EVENT_LIST, type EventListView } from "../state/events";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../state/url";
import { EventDialog } from "./EventDialog";
import { Instant } from "./Instant";
import { mayWrite, useMe } from "./me";
import { PageButton, PageLink } from "./PageLink";
import { ScrollCard } from "./ScrollCard";
import { StateView } from "./StateView";
import { useEventDeletion } from "./useEventDeletion";
import { useSettled } from "./useSettled";
import "./EventLayer.css";
import "./EventTable.css";

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
  const deletion = useEventDeletion();
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
      <Filters host={host} view={view} zone={zone} problem={times.problem} onView={onView}>
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
      </Filters>
      <ChosenWindow ends={ends} host={host} hosts={hosts} zone={zone} clock={clock} onEnds={setEnds} />
      <ScrollCard label="Events">
        {page === undefined ? (
          <StateView
            state={
              list.error
                ? { kind: "error", error: list.error, onRetry: () => void list.refetch() }
                : { kind: "loading", what: "events" }
            }
          />
        ) : page.events.length === 0 ? (
          <StateView state={emptyState(isFiltered || view.page > 0, onView, host)} />
        ) : (
          <Table aria-label="Events" className="event-table">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>When ({zoneLabel(zone, readNow())})</Table.Th>
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
                    deletion.remove(event);
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
      {deletion.toast}
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

interface FiltersProps {
  readonly host: string | null;
  readonly view: EventListView;
  readonly zone: Zone;
  /** What is wrong with the typed times. */
  readonly problem: string | null;
  readonly onView: EventTableProps["onView"];
  readonly children: React.ReactNode;
}

function Filters({ host, view, zone, problem, onView, children }: FiltersProps) {
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

function HostFilter({ hosts, onView }: { readonly hosts: readonly string[]; readonly onView: EventTableProps["onView"] }) {
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

/** The two events that a window is chosen by. */
interface Ends {
  readonly from: HostEvent | null;
  readonly to: HostEvent | null;
}

interface ChosenWindowProps {
  readonly ends: Ends;
  readonly host: string | null;
  readonly hosts: readonly string[];
  readonly zone: Zone;
  readonly clock: Clock;
  readonly onEnds: (ends: Ends) => void;
}

/** The window between two chosen events, with the hosts whose graphs show it. */
function ChosenWindow({ ends, host, hosts, zone, clock, onEnds }: ChosenWindowProps) {
  const { from, to } = ends;
  if (from === null && to === null) {
    return null;
  }
  const named = [...new Set([...(from?.hosts ?? []), ...(to?.hosts ?? []), ...hosts])];
  const candidates = host === null ? named.slice(0, 5) : [host];
  const window = from === null || to === null ? null : windowBetweenEvents(fromApi(from.at), fromApi(to.end ?? to.at));
  return (
    <Group className="event-window" gap="xs" mb="sm" role="region" aria-label="Window between two events">
      <Text fz="sm">
        {window === null ? (
          <>
            <b>{from === null ? "Ends" : "Begins"}</b> with “{(from ?? to)?.text}”. Choose another event for the other end.
          </>
        ) : (
          <>
            <b>Between two events</b> {formatWindow(zone, window)} {zoneLabel(zone, window.end)} (
            {describeDuration(lengthOf(window))})
          </>
        )}
      </Text>
      {window !== null &&
        candidates.map((name) => (
          <PageButton
            key={name}
            variant="default"
            to="/hosts/$host"
            params={{ host: name }}
            search={graphsSearch(window, window, clock)}
          >
            Graphs of {name}
          </PageButton>
        ))}
      {window !== null && candidates.length === 0 && (
        <Text fz="sm" className="soft">
          Choose hosts above to open their graphs.
        </Text>
      )}
      <Button
        variant="default"
        onClick={() => {
          onEnds({ from: null, to: null });
        }}
      >
        Clear
      </Button>
    </Group>
  );
}

function graphsSearch(shown: Window, mark: Window | null, clock: Clock) {
  return encodeHostView({ ...DEFAULT_HOST_VIEW, clock, mark, range: { kind: "fixed", window: shown } });
}

/** Return whether two entries are one event, perhaps from lists fetched at different times. */
function isSame(a: HostEvent | null, b: HostEvent): boolean {
  return a !== null && a.id === b.id && a.at === b.at && a.text === b.text;
}

interface EventTableRowProps {
  readonly event: HostEvent;
  readonly host: string | null;
  readonly zone: Zone;
  readonly clock: Clock;
  readonly ends: Ends;
  readonly mayWrite: boolean;
  readonly onEnds: (ends: Ends) => void;
  readonly onTag: (tag: string) => void;
  readonly onChange: () => void;
  readonly onDelete: () => void;
}

function EventTableRow({ event, host, zone, clock, ends, mayWrite, onEnds, onTag, onChange, onDelete }: EventTableRowProps) {
  const at = fromApi(event.at);
  const end = event.end === null ? null : fromApi(event.end);
  const notBefore = event.not_before === null ? null : fromApi(event.not_before);
  const names = host === null ? (event.hosts ?? []) : [host];
  const around = graphsSearch(eventSurroundings(at, end), null, clock);
  return (
    <Table.Tr>
      <Table.Td>
        {names[0] === undefined ? (
          <Instant at={at} zone={zone} />
        ) : (
          <PageLink fz="inherit" to="/hosts/$host" params={{ host: names[0] }} search={around}>
            <Instant at={at} zone={zone} />
          </PageLink>
        )}
        {end !== null && <div className="soft">for {describeDuration(toDurationMs(end - at))}</div>}
        {notBefore !== null && <div className="soft">{describeEarliest(zone, at, notBefore)}</div>}
      </Table.Td>
      <Table.Td style={{ whiteSpace: "nowrap" }}>
        <span className="event-swatch" data-kind={event.kind} aria-hidden /> {kindLabel(event.kind)}
      </Table.Td>
      <Table.Td className="event-table-text">
        {event.text}
        {event.tags.length > 0 && (
          <div>
            {event.tags.map((tag) => (
              <Anchor
                key={tag}
                component="button"
                type="button"
                fz="xs"
                mr={8}
                title={`Only events with the tag ${tag}`}
                onClick={() => {
                  onTag(tag);
                }}
              >
                #{tag}
              </Anchor>
            ))}
          </div>
        )}
      </Table.Td>
      <Table.Td>
        {event.hosts === null ? (
          describeHosts(null)
        ) : (
          <>
            {event.hosts.map((name, place) => (
              <span key={name}>
                {place > 0 && ", "}
                <PageLink fz="inherit" to="/hosts/$host" params={{ host: name }} search={around}>
                  {name}
                </PageLink>
              </span>
            ))}
          </>
        )}
      </Table.Td>
      <Table.Td>{describeSource(event)}</Table.Td>
      <Table.Td style={{ whiteSpace: "nowrap" }}>
        {(["from", "to"] as const).map((side) => (
          <Button
            key={side}
            size="compact-xs"
            mr={4}
            variant={isSame(ends[side], event) ? "filled" : "default"}
            aria-pressed={isSame(ends[side], event)}
            aria-label={`${side === "from" ? "From here" : "To here"}: ${event.text}`}
            onClick={() => {
              onEnds({ ...ends, [side]: isSame(ends[side], event) ? null : event });
            }}
          >
            {side === "from" ? "From here" : "To here"}
          </Button>
        ))}
      </Table.Td>
      <Table.Td style={{ whiteSpace: "nowrap" }}>
        {mayWrite && event.id !== null && (
          <>
            {mayChange(event) && (
              <Tooltip label="Change">
                <ActionIcon aria-label={`Change ${event.text}`} onClick={onChange}>
                  <IconPencil size={15} />
                </ActionIcon>
              </Tooltip>
            )}
            <Tooltip label="Delete">
              <ActionIcon aria-label={`Delete ${event.text}`} onClick={onDelete}>
                <IconTrash size={15} />
              </ActionIcon>
            </Tooltip>
          </>
        )}
      </Table.Td>
    </Table.Tr>
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
        {nTotal > nShown && nShown > 0
          ? `${formatCount(first + 1)}–${formatCount(first + nShown)} of ${plural(nTotal, "event")}`
          : plural(nTotal, "event")}
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
