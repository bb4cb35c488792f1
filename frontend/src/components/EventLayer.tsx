import { memo, useState } from "react";
import { clusterKind, clusterMarks, describeMark, type EventMark, isTracer, markKey, toolOf } from "../logic/event";
import { bandShare, type Margins, percent } from "../logic/surface";
import type { Window } from "../logic/time";
import type { Zone } from "../logic/zone";
import "./EventLayer.css";

interface EventLayerProps {
  readonly events: readonly EventMark[];
  readonly width: number;
  readonly margins: Margins;
  readonly drawn: Window;
  readonly zone: Zone;
}

// Closer marks cannot be pointed at one by one.
const MIN_DISTANCE_PX = 6;
const MAX_TEXTS = 6;

/** The events of a graph as thin lines, with a tint for as long as they went on. The text of one shows while the pointer is on its line; drags pass through. */
export const EventLayer = memo(function EventLayer({ events, width, margins, drawn, zone }: EventLayerProps) {
  const [pointed, setPointed] = useState<number | null>(null);
  const clusters = clusterMarks(events, drawn, width, margins, MIN_DISTANCE_PX);
  const shown = clusters.find(({ marks }) => marks[0]?.at === pointed);
  return (
    <>
      <div
        className="time-surface-area"
        style={{ left: margins.left, right: margins.right, top: margins.top, bottom: margins.bottom }}
      >
        {events.map((mark) => (
          <EventSpan key={markKey(mark)} mark={mark} drawn={drawn} />
        ))}
      </div>
      {clusters.map((cluster) => {
        const at = cluster.marks[0]?.at ?? null;
        return (
          <div
            key={at}
            className="event-line"
            data-kind={clusterKind(cluster)}
            style={{ left: cluster.x, top: margins.top, bottom: margins.bottom }}
            onPointerEnter={() => {
              setPointed(at);
            }}
            onPointerLeave={() => {
              setPointed(null);
            }}
          />
        );
      })}
      {shown && (
        <EventNote marks={shown.marks} zone={zone} side={shown.x > width / 2 ? "left" : "right"} x={shown.x} top={margins.top} />
      )}
    </>
  );
});

/** The time for which an event went on. */
function EventSpan({ mark: { at, end, kind, text, event }, drawn }: { readonly mark: EventMark; readonly drawn: Window }) {
  const share = end === null ? null : bandShare({ start: at, end }, drawn);
  return (
    share && (
      <div
        className="event-span"
        data-kind={kind}
        data-effect={event.effect}
        style={{ left: percent(share.left), width: percent(share.width) }}
      >
        {isTracer(kind) && <span>{toolOf(text)}</span>}
      </div>
    )
  );
}

interface EventNoteProps {
  readonly marks: readonly EventMark[];
  readonly zone: Zone;
  readonly side: "left" | "right";
  readonly x: number;
  readonly top: number;
}

/** The texts of marks, beside their line. */
export function EventNote({ marks, zone, side, x, top }: EventNoteProps) {
  return (
    <div className="event-note" data-side={side} style={{ left: x, top }} aria-hidden>
      {marks.slice(0, MAX_TEXTS).map((mark) => (
        <div key={markKey(mark)} className="event-text">
          {describeMark(zone, mark)}
        </div>
      ))}
      {marks.length > MAX_TEXTS && <div>{`and ${String(marks.length - MAX_TEXTS)} more, in the list of events`}</div>}
    </div>
  );
}
