import { ActionIcon, Anchor, Button, Group, Table, Text, Tooltip } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import type { HostEvent } from "../logic/api";
import { artefactOf } from "../logic/artefact";
import {
  describeEarliest,
  describeHosts,
  describeSource,
  eventSurroundings,
  kindLabel,
  mayChange,
  windowBetweenEvents,
} from "../logic/event";
import { describeDuration, fromApi, lengthOf, toDurationMs, type Window } from "../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../logic/zone";
import { DEFAULT_ARTEFACT_VIEW, encodeArtefactView } from "../state/artefacts";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../state/url";
import { EventVerdict } from "./EventVerdict";
import { Instant } from "./Instant";
import { PageButton, PageLink } from "./PageLink";
import { nodes } from "./nodes";
import "./EventLayer.css";
import "./EventTable.css";

/** The two events that a window is chosen by. */
export interface Ends {
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
export function ChosenWindow({ ends, host, hosts, zone, clock, onEnds }: ChosenWindowProps) {
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
            {nodes`${<b>{from === null ? "Ends" : "Begins"}</b>} with “${(from ?? to)?.text}”. Choose another event for the other end.`}
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
            {`Graphs of ${name}`}
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

/** One event of the list. */
export function EventTableRow({
  event,
  host,
  zone,
  clock,
  ends,
  mayWrite,
  onEnds,
  onTag,
  onChange,
  onDelete,
}: EventTableRowProps) {
  const at = fromApi(event.at);
  const artefact = artefactOf(event);
  const end = event.end === null ? null : fromApi(event.end);
  const notBefore = event.not_before === null ? null : fromApi(event.not_before);
  const names = host === null ? (event.hosts ?? []) : [host];
  const around = graphsSearch(eventSurroundings(at, end, event.kind), null, clock);
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
        {end !== null && <div className="soft">{`for ${describeDuration(toDurationMs(end - at))}`}</div>}
        {notBefore !== null && <div className="soft">{describeEarliest(zone, at, notBefore)}</div>}
      </Table.Td>
      <Table.Td style={{ whiteSpace: "nowrap" }}>
        <span className="event-swatch" data-kind={event.kind} aria-hidden /> {kindLabel(event.kind)}
      </Table.Td>
      <Table.Td className="event-table-text">
        {event.text}
        <EventVerdict event={event} />
        {artefact !== null && (
          <div>
            <PageLink
              fz="xs"
              to="/artefacts/$artefact"
              params={{ artefact: String(artefact) }}
              search={encodeArtefactView({ ...DEFAULT_ARTEFACT_VIEW, clock })}
            >
              Open the artefact
            </PageLink>
          </div>
        )}
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
