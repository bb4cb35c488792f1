import { memo, useState } from "react";
import { EventNote } from "../../components/EventLayer";
import { Instant } from "../../components/Instant";
import { clusterKind, clusterMarks, describeEarliest, describeMark, type EventMark } from "../../logic/event";
import { plural } from "../../logic/number";
import type { Margins } from "../../logic/surface";
import type { Zone } from "../../logic/zone";
import { EVENTS_ID, type GraphContext } from "./graph";
import "./Events.css";

// A flag is this wide.
const MIN_DISTANCE_PX = 14;

interface EventFlagsProps {
  readonly graph: GraphContext;
  readonly width: number;
  readonly margins: Margins;
}

/** The events on the time strip as buttons: the keyboard reaches them, and shows what the pointer shows on their lines. */
export function EventFlags({ graph, width, margins }: EventFlagsProps) {
  const [shown, setShown] = useState<number | null>(null);
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
            onPointerDown={(event) => {
              // No drag of the strip begins here.
              event.stopPropagation();
            }}
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
    </>
  );
}

interface EventListProps {
  readonly marks: readonly EventMark[];
  /** Earlier events of the window that the server did not list. */
  readonly nLeftOut: number;
  readonly zone: Zone;
}

/** The events of the window as a list that can be opened; graphs refer to it as their description. */
export const EventList = memo(function EventList({ marks, nLeftOut, zone }: EventListProps) {
  const last = marks.at(-1);
  if (last === undefined) {
    return null;
  }
  return (
    <details className="event-list">
      <summary>
        <span className="event-swatch" aria-hidden /> {plural(marks.length + nLeftOut, "event")} in this window
        <span className="soft">
          {marks.length > 1 && " · last"}: {last.text}
        </span>
      </summary>
      {/* No label: it would hide the text of the list from the graphs that it describes. */}
      <ol id={EVENTS_ID}>
        {marks.map((mark) => (
          <li key={`${String(mark.at)} ${mark.text}`}>
            <Instant at={mark.at} zone={zone} /> {mark.text}
            {mark.notBefore !== null && <span className="soft"> ({describeEarliest(zone, mark.at, mark.notBefore)})</span>}
          </li>
        ))}
        {nLeftOut > 0 && <li>{plural(nLeftOut, "earlier event")} not listed: choose a shorter window.</li>}
      </ol>
    </details>
  );
});
