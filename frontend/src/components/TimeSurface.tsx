import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useRef } from "react";
import { bandShare, dragWindow, hoveredTime, type Margins, percent, pixelOfTime } from "../logic/surface";
import type { Window } from "../logic/time";
import type { Zone } from "../logic/zone";
import type { EventMark } from "../logic/event";
import { type PointerStore, usePointer } from "../state/pointer";
import { EventLayer } from "./EventLayer";
import "./TimeSurface.css";

export interface SurfaceBand {
  readonly key: string;
  readonly kind: "baseline" | "exclusion" | "mark";
  readonly label: string;
  readonly window: Window;
}

interface TimeSurfaceProps {
  readonly width: number;
  readonly height: number;
  readonly margins: Margins;
  readonly window: Window;
  readonly tool: "zoom" | "mark";
  readonly pointer: PointerStore;
  readonly bands: readonly SurfaceBand[];
  /** Moments marked by a line; their texts show near the pointer. */
  readonly events: readonly EventMark[];
  readonly zone: Zone;
  /** The id of the element that lists the events as text. */
  readonly eventsId: string | undefined;
  readonly label: string;
  /** The panel that the surface belongs to; undefined for the strip. */
  readonly panel?: string;
  readonly onZoom: (window: Window) => void;
  readonly onMark: (window: Window) => void;
  readonly onZoomOut: () => void;
  /** Moves the crosshair by one sample; if undefined, the page handles the arrow keys. */
  readonly onStep?: (direction: -1 | 1) => void;
  /** The graph under the layer. */
  readonly children: ReactNode;
}

// A second click within this time makes a double click, which zooms out.
const DOUBLE_CLICK_MS = 250;

/** The layer above a graph that handles crosshair, zoom and selection. All surfaces of a page share one pointer. */
export function TimeSurface(props: TimeSurfaceProps) {
  const { width, height, margins, window: drawn, tool, pointer } = props;
  const picking = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const start = useRef<{ readonly x: number; readonly purpose: "zoom" | "mark" } | null>(null);

  const xOf = (event: PointerEvent): number => event.clientX - event.currentTarget.getBoundingClientRect().left;

  const begin = (event: PointerEvent): void => {
    if (event.button === 0) {
      event.currentTarget.setPointerCapture(event.pointerId);
      start.current = { x: xOf(event), purpose: tool === "mark" || event.shiftKey ? "mark" : "zoom" };
    }
  };

  const move = (event: PointerEvent): void => {
    const x = xOf(event);
    const y = event.clientY - event.currentTarget.getBoundingClientRect().top;
    pointer.set({
      hovered: hoveredTime(x, width, margins, drawn),
      point: props.panel === undefined ? null : { panel: props.panel, y },
    });
    if (start.current !== null) {
      const dragged = dragWindow(start.current.x, x, width, margins, drawn);
      pointer.set({ dragged: dragged === null ? null : { window: dragged, purpose: start.current.purpose } });
    }
  };

  const finish = (event: PointerEvent): void => {
    const begun = start.current;
    start.current = null;
    pointer.set({ dragged: null });
    const dragged = begun === null ? null : dragWindow(begun.x, xOf(event), width, margins, drawn);
    const clicked = begun === null ? null : hoveredTime(xOf(event), width, margins, drawn);
    if (begun?.purpose === "zoom" && dragged === null && clicked !== null) {
      clearTimeout(picking.current);
      picking.current = setTimeout(() => {
        pointer.pick(clicked, props.panel);
      }, DOUBLE_CLICK_MS);
    }
    if (begun !== null && dragged !== null) {
      (begun.purpose === "mark" ? props.onMark : props.onZoom)(dragged);
    }
  };

  const cancel = (): void => {
    start.current = null;
    pointer.set({ dragged: null });
  };

  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent): void => {
      if (event.key === "Escape" && start.current !== null) {
        start.current = null;
        pointer.set({ dragged: null });
      }
    };
    document.addEventListener("keydown", onKey, { capture: true });
    return () => {
      document.removeEventListener("keydown", onKey, { capture: true });
    };
  }, [pointer]);

  useEffect(
    () => () => {
      clearTimeout(picking.current);
    },
    [],
  );

  const onKeyDown = (event: KeyboardEvent): void => {
    const { hovered } = pointer.get();
    if (event.key === "Enter" && event.target === event.currentTarget && hovered !== null) {
      pointer.pick(hovered, props.panel);
    }
    if (props.onStep !== undefined && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
      event.preventDefault();
      event.stopPropagation();
      props.onStep(event.key === "ArrowLeft" ? -1 : 1);
    }
  };

  return (
    <div
      className="time-surface"
      data-tool={tool}
      style={{ width, height }}
      tabIndex={props.onStep === undefined ? -1 : 0}
      role="group"
      aria-label={props.label}
      aria-describedby={props.eventsId}
      onPointerDown={begin}
      onPointerMove={move}
      onPointerUp={finish}
      onPointerCancel={cancel}
      onPointerLeave={() => {
        if (start.current === null) {
          pointer.set({ hovered: null, point: null });
        }
      }}
      onDoubleClick={() => {
        clearTimeout(picking.current);
        props.onZoomOut();
      }}
      onKeyDown={onKeyDown}
    >
      <div
        className="time-surface-area"
        style={{ left: margins.left, right: margins.right, top: margins.top, bottom: margins.bottom }}
      >
        {props.bands.map((band) => (
          <BandLayer key={band.key} band={band} drawn={drawn} />
        ))}
      </div>
      {props.children}
      <EventLayer events={props.events} width={width} margins={margins} drawn={drawn} zone={props.zone} />
      <PointerLayer width={width} margins={margins} drawn={drawn} pointer={pointer} />
    </div>
  );
}

function BandLayer({ band, drawn }: { readonly band: SurfaceBand; readonly drawn: Window }) {
  const share = bandShare(band.window, drawn);
  if (share === null) {
    return null;
  }
  return (
    <div className="time-band" data-kind={band.kind} style={{ left: percent(share.left), width: percent(share.width) }}>
      <span>{band.label}</span>
    </div>
  );
}

interface PointerLayerProps {
  readonly width: number;
  readonly margins: Margins;
  readonly drawn: Window;
  readonly pointer: PointerStore;
}

/** Subscribes to the pointer itself, so that a move renders nothing else. */
function PointerLayer({ width, margins, drawn, pointer }: PointerLayerProps) {
  const { hovered, dragged, picked } = usePointer(pointer);
  const pickedX = picked === null ? null : pixelOfTime(picked, width, margins, drawn);
  const x = hovered === null ? null : pixelOfTime(hovered, width, margins, drawn);
  const share = dragged === null ? null : bandShare(dragged.window, drawn);
  return (
    <>
      {share !== null && dragged !== null && (
        <div
          className="time-surface-area"
          style={{ left: margins.left, right: margins.right, top: margins.top, bottom: margins.bottom }}
        >
          <div
            className="time-drag"
            data-purpose={dragged.purpose}
            style={{ left: percent(share.left), width: percent(share.width) }}
          />
        </div>
      )}
      {pickedX !== null && <div className="time-picked" style={{ left: pickedX, top: margins.top, bottom: margins.bottom }} />}
      {x !== null && <div className="time-cross" style={{ left: x, top: margins.top, bottom: margins.bottom }} />}
    </>
  );
}
