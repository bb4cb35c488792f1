import { Anchor, Popover, VisuallyHidden } from "@mantine/core";
import { useSearch } from "@tanstack/react-router";
import { lazy, memo, Suspense, useState } from "react";
import { EventNote } from "../../components/EventLayer";
import { EventVerdict } from "../../components/EventVerdict";
import { Instant } from "../../components/Instant";
import { mayWrite, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { useEventDeletion } from "../../components/useEventDeletion";
import type { HostEvent } from "../../logic/api";
import { artefactOf } from "../../logic/artefact";
import {
  clusterKind,
  clusterMarks,
  describeEarliest,
  describeHosts,
  describeMark,
  describeSource,
  type EventMark,
  markKey,
  mayChange,
  windowBetweenEvents,
  windowFromEvent,
} from "../../logic/event";
import type { Margins } from "../../logic/surface";
import type { EpochMs, Window } from "../../logic/time";
import { formatInstant, type Zone } from "../../logic/zone";
import { DEFAULT_ARTEFACT_VIEW, encodeArtefactView } from "../../state/artefacts";
import { clockOf } from "../../state/zone_choice";
import { EVENTS_ID, type GraphContext, noDrag } from "./graph";
import { counted } from "../../logic/counted";
import "./Events.css";

const EventDialog = lazy(() => import("../../components/EventDialog").then((module) => ({ default: module.EventDialog })));

// A flag is this wide.
const MIN_DISTANCE_PX = 14;

interface EventFlagsProps {
  readonly graph: GraphContext;
  readonly width: number;
  readonly margins: Margins;
}

/**
 * The events on the time strip as buttons: the keyboard reaches them, and shows what the pointer shows on their lines. A click
 * begins a window, a Shift-click on another one ends it.
 */
export function EventFlags({ graph, width, margins }: EventFlagsProps) {
  const [shown, setShown] = useState<number | null>(null);
  const [anchor, setAnchor] = useState<EpochMs | null>(null);
  const clusters = clusterMarks(graph.events, graph.window, width, margins, MIN_DISTANCE_PX);
  const cluster = clusters.find(({ marks }) => marks[0]?.at === shown);
  return (
    <>
      {clusters.map((each) => {
        const at = each.marks[0]?.at ?? null;
        return (
          <button
            key={at}
            type="button"
            className="event-flag"
            data-kind={clusterKind(each)}
            style={{ left: each.x }}
            aria-label={each.marks.map((mark) => describeMark(graph.zone, mark)).join("; ")}
            aria-pressed={at !== null && at === anchor}
            onClick={(event) => {
              if (event.shiftKey && anchor !== null && at !== null && at !== anchor) {
                setAnchor(null);
                graph.onZoom(windowBetweenEvents(anchor, at));
              } else {
                setAnchor(at === anchor ? null : at);
              }
            }}
            onDoubleClick={noDrag}
            onFocus={() => {
              setShown(at);
            }}
            onBlur={() => {
              setShown(null);
            }}
            onPointerEnter={() => {
              setShown(at);
            }}
            onPointerLeave={() => {
              setShown(null);
            }}
            onPointerDown={noDrag}
          />
        );
      })}
      {cluster && (
        <EventNote
          marks={cluster.marks}
          zone={graph.zone}
          side={cluster.x > width / 2 ? "left" : "right"}
          x={cluster.x}
          top={14}
        />
      )}
      {anchor !== null && (
        <VisuallyHidden role="status">
          {`The window begins at ${formatInstant(graph.zone, anchor)}. Shift-click another event to end it there.`}
        </VisuallyHidden>
      )}
    </>
  );
}

/** Leads to the artefact that an event is derived from. */
function ArtefactLink({ event }: { readonly event: HostEvent }) {
  const clock = clockOf(useSearch({ strict: false }));
  const artefact = artefactOf(event);
  return (
    artefact !== null && (
      <>
        <PageLink
          fz="inherit"
          to="/artefacts/$artefact"
          params={{ artefact: String(artefact) }}
          search={encodeArtefactView({ ...DEFAULT_ARTEFACT_VIEW, clock })}
        >
          Open the artefact
        </PageLink>{" "}
      </>
    )
  );
}

interface EventListProps {
  readonly host: string;
  readonly marks: readonly EventMark[];
  /** Earlier events of the window that the server did not list. */
  readonly nLeftOut: number;
  readonly window: Window;
  readonly zone: Zone;
  readonly onZoom: (window: Window) => void;
}

/** The count of the window's events, which opens their list; graphs refer to it as their description. */
export const EventList = memo(function EventList({ host, marks, nLeftOut, window: shown, zone, onZoom }: EventListProps) {
  const me = useMe();
  const [changed, setChanged] = useState<HostEvent | null>(null);
  const deleteEvent = useEventDeletion();
  const isWriter = mayWrite(me);
  return (
    <>
      {marks.length === 0 ? (
        "No events in this window"
      ) : (
        <>
          {/* What describes the graphs: the list without its buttons. */}
          <div id={EVENTS_ID} hidden>
            {marks.map((mark) => describeMark(zone, mark)).join("; ")}
          </div>
          <Popover
            position="bottom-end"
            width="min(720px, 94vw)"
            shadow="md"
            trapFocus={changed === null}
            closeOnClickOutside={changed === null}
          >
            <Popover.Target>
              <button type="button" className="text-button">
                {`${counted(marks.length + nLeftOut, "event")} in this window`}
              </button>
            </Popover.Target>
            <Popover.Dropdown aria-label="Events in this window">
              <ol className="event-list" aria-label="Events in this window">
                {marks.map((mark) => (
                  <li key={markKey(mark)}>
                    <span className="event-swatch" data-kind={mark.kind} aria-hidden />
                    <Instant at={mark.at} zone={zone} />{" "}
                    {mark.end !== null && (
                      <span>
                        – <Instant at={mark.end} zone={zone} />{" "}
                      </span>
                    )}
                    <span className="event-text">{mark.text}</span> <ArtefactLink event={mark.event} />
                    {mark.event.tags.map((tag) => (
                      <span key={tag} className="soft">
                        #{tag}{" "}
                      </span>
                    ))}
                    {mark.notBefore !== null && <span className="soft">({describeEarliest(zone, mark.at, mark.notBefore)})</span>}{" "}
                    {mark.event.id !== null && (
                      <span className="soft">
                        {describeSource(mark.event)}
                        {isOfOthers(mark.event, host) && ` · ${describeHosts(mark.event.hosts)}`}{" "}
                      </span>
                    )}
                    <span className="event-actions no-print">
                      <EventAction
                        text="From here"
                        about={mark.text}
                        onClick={() => {
                          onZoom(windowFromEvent(shown, mark.at, "start"));
                        }}
                      />
                      <EventAction
                        text="To here"
                        about={mark.text}
                        onClick={() => {
                          onZoom(windowFromEvent(shown, mark.end ?? mark.at, "end"));
                        }}
                      />
                      {isWriter && mark.event.id !== null && (
                        <>
                          {mayChange(mark.event) && (
                            <EventAction
                              text="Change"
                              about={mark.text}
                              onClick={() => {
                                setChanged(mark.event);
                              }}
                            />
                          )}
                          <EventAction
                            text="Delete"
                            about={mark.text}
                            onClick={() => {
                              deleteEvent(mark.event);
                            }}
                          />
                        </>
                      )}
                    </span>
                    <EventVerdict event={mark.event} />
                  </li>
                ))}
                {nLeftOut > 0 && <li>{`${counted(nLeftOut, "earlier event")} not listed: choose a shorter window.`}</li>}
              </ol>
            </Popover.Dropdown>
          </Popover>
        </>
      )}
      <Suspense fallback={null}>
        {changed && (
          <EventDialog
            host={host}
            event={changed}
            at={shown.start}
            end={null}
            zone={zone}
            onClose={() => {
              setChanged(null);
            }}
          />
        )}
      </Suspense>
    </>
  );
});

/** Return whether an event is not of this host alone. */
function isOfOthers({ hosts }: HostEvent, host: string): boolean {
  return hosts?.length !== 1 || hosts[0] !== host;
}

interface EventActionProps {
  readonly text: string;
  /** The text of the event, for those who hear the button alone. */
  readonly about: string;
  readonly onClick: () => void;
}

function EventAction({ text, about, onClick }: EventActionProps) {
  return (
    <Anchor component="button" type="button" fz="inherit" onClick={onClick}>
      {text}
      <VisuallyHidden>: {about}</VisuallyHidden>
    </Anchor>
  );
}
