import { useEffect, useLayoutEffect, useRef } from "react";
import { stretchOf } from "../logic/surface";
import { isSameWindow, toEpochMs, type Window } from "../logic/time";
import type { Figure } from "./figure";
import "./Plot.css";

interface PlotProps {
  readonly figure: Figure;
  /** What the graph shows, for people who cannot see it. */
  readonly label: string;
  /** The window to show; if it differs from the figure's window, the drawing is moved and stretched at once. */
  readonly view?: Window;
  /** The key of the series that stands out; the others are pale. Null for none. */
  readonly highlight?: string | null;
  /** Called when a figure has been drawn. */
  readonly onDrawn?: (figure: Figure) => void;
}

type Plotly = typeof import("./plotly").plotly;

let loading: Promise<Plotly> | null = null;

function loadPlotly(): Promise<Plotly> {
  loading ??= import("./plotly").then(({ plotly }) => plotly);
  return loading;
}

/** Starts Plotly while the first lines are on their way: running its code takes as long as a request. */
export function usePlots(areComing: boolean): void {
  useEffect(() => {
    if (areComing && loading === null) {
      // The requests of all panels go first.
      setTimeout(() => void loadPlotly());
    }
  }, [areComing]);
}

let turn: Promise<void> = Promise.resolve();

/** Draws graphs one after another and yields to the browser in between, so that a page of graphs does not block it. */
function nextTurn(): Promise<void> {
  turn = turn.then(
    () =>
      new Promise((resolve) => {
        setTimeout(resolve);
      }),
  );
  return turn;
}

/** Shows a drawing in another window without redrawing: one attribute instead of thousands of points. */
function show(node: HTMLElement, { layout }: Figure, view: Window | undefined): void {
  const [start, end] = (layout.xaxis?.range ?? []) as readonly unknown[];
  const drawn = { start: toEpochMs(Number(start)), end: toEpochMs(Number(end)) };
  const isMoved = view !== undefined && !isSameWindow(drawn, view);
  const { l = 0, r = 0 } = layout.margin ?? {};
  const { scale, shift_px } = stretchOf(drawn, view ?? drawn, (layout.width ?? 0) - l - r);
  node.setAttribute("data-moved", String(isMoved));
  for (const layer of node.querySelectorAll<SVGElement>(".overplot > .xy > *")) {
    layer.style.transform = isMoved ? `translate(${String(shift_px)}px, 0) scale(${String(scale)}, 1)` : "";
  }
}

/** Makes the traces of one series stand out without redrawing: the bands behind the lines stay as they are. */
function emphasise(node: HTMLElement, { traces }: Figure, highlight: string | null): void {
  const slot = highlight === null ? undefined : traces.get(highlight);
  for (const trace of node.querySelectorAll<SVGElement>(".scatterlayer > .trace")) {
    const [, found] = /\btraces(\d+)(?:[ap]\d*)?\b/.exec(trace.getAttribute("class") ?? "") ?? [];
    trace.style.opacity = slot === undefined || found === undefined || found === String(slot) ? "" : "0.15";
  }
}

/**
 * Owns the DOM node that Plotly draws into. Plotly only draws here: our layer above (components/TimeSurface) handles pointer,
 * drags and crosshair, so there are no relayout events to ignore.
 */
export function Plot({ figure, label, view, highlight = null, onDrawn }: PlotProps) {
  const node = useRef<HTMLDivElement>(null);
  const drawn = useRef<Figure | null>(null);
  const newest = useRef<{ readonly figure: Figure; readonly onDrawn: PlotProps["onDrawn"] | undefined } | null>(null);
  const isQueued = useRef(false);
  const wanted = useRef(view);
  const raised = useRef(highlight);

  useLayoutEffect(() => {
    wanted.current = view;
    if (node.current !== null && drawn.current !== null) {
      show(node.current, drawn.current, view);
    }
  }, [view]);

  useLayoutEffect(() => {
    raised.current = highlight;
    if (node.current !== null && drawn.current !== null) {
      emphasise(node.current, drawn.current, highlight);
    }
  }, [highlight]);

  useEffect(() => {
    newest.current = { figure, onDrawn };
    // A graph keeps its place when its figure is replaced: on a busy machine the last graphs of a live page would else never be drawn.
    if (isQueued.current) {
      return;
    }
    isQueued.current = true;
    const draw = async (): Promise<void> => {
      const plotly = await loadPlotly();
      await nextTurn();
      isQueued.current = false;
      const owned = node.current;
      const next = newest.current;
      if (owned !== null && next !== null) {
        const { data, layout } = next.figure;
        await plotly.react(owned, data, layout, { staticPlot: true, displayModeBar: false, responsive: false });
        drawn.current = next.figure;
        show(owned, next.figure, wanted.current);
        emphasise(owned, next.figure, raised.current);
        next.onDrawn?.(next.figure);
      }
    };
    void draw();
  }, [figure, onDrawn]);

  useEffect(() => {
    const owned = node.current;
    return () => {
      if (owned !== null && loading !== null) {
        void loading.then((plotly) => {
          plotly.purge(owned);
        });
      }
    };
  }, []);

  return (
    <div
      ref={node}
      className="plot"
      role="img"
      aria-label={label}
      style={{ width: figure.layout.width, height: figure.layout.height }}
    />
  );
}
