import { useViewportSize } from "@mantine/hooks";
import { type KeyboardEvent, type PointerEvent, useRef, useSyncExternalStore } from "react";
import { DEFAULT_LOOK, fullHeight, MAX_HEIGHT, MIN_HEIGHT, toHeight, USUAL_HEIGHT } from "../../logic/look";
import type { PanelPlan } from "../../logic/panel";
import type { GraphContext } from "./graph";
import "./PanelGrip.css";

const KEY_STEP = 20;

/** The height that a panel has while its edge is dragged: the link changes once, when it is released. */
let dragged: { readonly panel: string; readonly height: number } | null = null;
const listeners = new Set<() => void>();

function drag(next: typeof dragged): void {
  dragged = next;
  for (const listener of listeners) {
    listener();
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function useDragged(panel: string): number | null {
  return useSyncExternalStore(subscribe, () => (dragged?.panel === panel ? dragged.height : null));
}

/** Return the height of a panel's graph: that of the window, the one given by hand, that of the view, or the usual one. */
export function usePanelHeight(plan: PanelPlan, graph: GraphContext, usual: number): number {
  const { height: window } = useViewportSize();
  const held = useDragged(plan.id);
  if (graph.fullPanel === plan.id) {
    return fullHeight(window, usual);
  }
  return held ?? graph.looks.get(plan.id)?.height ?? plan.height ?? usual;
}

interface PanelGripProps {
  readonly plan: PanelPlan;
  readonly graph: GraphContext;
}

/** The lower edge of a panel: dragged, or moved by the arrow keys, it makes the graph higher. */
export function PanelGrip({ plan, graph }: PanelGripProps) {
  const grip = useRef<HTMLDivElement>(null);
  const start = useRef<{ readonly y: number; readonly height: number } | null>(null);
  const given = useDragged(plan.id) ?? (graph.looks.get(plan.id) ?? DEFAULT_LOOK).height ?? plan.height ?? null;
  if (graph.fullPanel !== null) {
    return null;
  }
  /** The graph is the surface above the grip, whatever decided its height. */
  const measure = (): number =>
    grip.current?.parentElement?.querySelector<HTMLElement>(".time-surface")?.getBoundingClientRect().height ?? MIN_HEIGHT;
  const set = (height: number | null): void => {
    graph.onLook(plan.id, { height });
  };
  const onPointerMove = (event: PointerEvent): void => {
    if (start.current !== null) {
      drag({ panel: plan.id, height: toHeight(start.current.height + event.clientY - start.current.y) });
    }
  };
  const onPointerUp = (): void => {
    if (start.current !== null && dragged !== null) {
      set(dragged.height);
    }
    start.current = null;
    drag(null);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: KEY_STEP, ArrowUp: -KEY_STEP }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      set(toHeight(measure() + step));
    } else if (event.key === "Home") {
      event.preventDefault();
      set(null);
    }
  };
  return (
    <div
      ref={grip}
      className="panel-grip no-print"
      role="separator"
      aria-orientation="horizontal"
      aria-label={`Height of ${plan.title}`}
      aria-valuemin={MIN_HEIGHT}
      aria-valuemax={MAX_HEIGHT}
      aria-valuenow={given ?? USUAL_HEIGHT}
      aria-valuetext={given === null ? "usual" : `${String(given)} pixels`}
      title="Drag to change the height; double-click for the usual one"
      tabIndex={0}
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        event.currentTarget.focus();
        start.current = { y: event.clientY, height: measure() };
      }}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerCancel={() => {
        start.current = null;
        drag(null);
      }}
      onDoubleClick={() => {
        set(null);
      }}
      onKeyDown={onKeyDown}
    />
  );
}
