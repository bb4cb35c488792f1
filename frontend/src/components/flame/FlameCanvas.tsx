import { VisuallyHidden } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { type KeyboardEvent, type PointerEvent, type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { type FlameLayout, type FlameMove, type FlameNodes, moveTo, nodeAt } from "../../logic/flame";
import { drawFlame, type FlamePaint, ROW_HEIGHT, rowAt } from "./draw";
import "./flame.css";

const MAX_HEIGHT = 760;
const TIP_WIDTH = 420;

interface FlameCanvasProps {
  /** What a screen reader calls it. */
  readonly name: string;
  readonly nodes: FlameNodes;
  readonly layout: FlameLayout;
  readonly isFlame: boolean;
  readonly isDark: boolean;
  readonly colours: readonly string[];
  readonly matched: readonly boolean[] | null;
  readonly label: (index: number) => string;
  readonly tip: (index: number) => ReactNode;
  readonly describe: (index: number) => string;
  readonly onZoom: (index: number) => void;
  readonly onOut: () => void;
  readonly onSearch: () => void;
}

interface Pointed {
  readonly index: number;
  readonly x: number;
  readonly y: number;
}

/** A flame graph: click or Enter zooms, Escape goes out, arrows move. What is beside the view is not drawn. */
export function FlameCanvas(props: FlameCanvasProps) {
  const { nodes, layout, isFlame, isDark, colours, matched, label } = props;
  const { ref: sized, width } = useElementSize<HTMLDivElement>();
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [scrolled, setScrolled] = useState(0);
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const [chosenIn, setChosen] = useState<{ readonly nodes: FlameNodes; readonly index: number } | null>(null);
  const chosen = chosenIn?.nodes === nodes && (layout.depth[chosenIn.index] ?? -1) >= 0 ? chosenIn.index : null;
  const whole = layout.rows.length * ROW_HEIGHT;
  const height = whole < MAX_HEIGHT ? whole : MAX_HEIGHT;
  // The canvas sticks to the top of the view until the end of the graph: its rows begin at most here.
  const shown = scrolled > whole - height ? whole - height : scrolled;

  useLayoutEffect(() => {
    // Flames begin at the bottom.
    if (scroller.current !== null) {
      scroller.current.scrollTop = isFlame ? scroller.current.scrollHeight : 0;
    }
  }, [isFlame, layout]);

  useLayoutEffect(() => {
    const node = canvas.current;
    const context = node?.getContext("2d");
    if (!node || !context || width === 0) {
      return;
    }
    const scale = devicePixelRatio;
    node.width = width * scale;
    node.height = height * scale;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const paint: FlamePaint = {
      nodes,
      layout,
      isFlame,
      colours,
      label,
      matched,
      chosen,
      hovered: pointed?.index ?? null,
      isDark,
    };
    drawFlame(context, paint, { width, height, scrolled: shown });
  }, [nodes, layout, isFlame, isDark, colours, label, matched, chosen, pointed, width, height, shown]);

  const find = (event: PointerEvent | React.MouseEvent): Pointed | null => {
    const box = canvas.current?.getBoundingClientRect();
    if (box === undefined || width === 0) {
      return null;
    }
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const index = nodeAt(layout, rowAt(layout, isFlame, y + shown), x / width);
    return index === null ? null : { index, x, y };
  };
  const choose = (index: number): void => {
    setChosen({ nodes, index });
    const depth = layout.depth[index] ?? 0;
    const top = (isFlame ? layout.rows.length - 1 - depth : depth) * ROW_HEIGHT;
    const view = scroller.current;
    if (view !== null && (top < view.scrollTop || top + ROW_HEIGHT > view.scrollTop + view.clientHeight)) {
      view.scrollTop = top - view.clientHeight / 2;
    }
  };
  const onKey = (event: KeyboardEvent): void => {
    const moves: Readonly<Record<string, FlameMove>> = {
      ArrowLeft: "left",
      ArrowRight: "right",
      ArrowUp: isFlame ? "in" : "out",
      ArrowDown: isFlame ? "out" : "in",
    };
    const move = moves[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    if (move !== undefined) {
      choose(chosen === null ? layout.start : moveTo(nodes, layout, chosen, move));
    } else if (event.key === "Enter" && chosen !== null) {
      props.onZoom(chosen);
    } else if (event.key === "Escape") {
      props.onOut();
    } else if (event.key === "/") {
      props.onSearch();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="flame" ref={sized}>
      <div
        ref={scroller}
        className="flame-window"
        role="application"
        aria-label={props.name}
        tabIndex={0}
        onKeyDown={onKey}
        onScroll={(event) => {
          setScrolled(event.currentTarget.scrollTop);
          setPointed(null);
        }}
      >
        <div style={{ height: whole }}>
          <canvas
            ref={canvas}
            style={{ width: "100%", height }}
            aria-hidden
            onPointerMove={(event) => {
              setPointed(find(event));
            }}
            onPointerLeave={() => {
              setPointed(null);
            }}
            onClick={(event) => {
              const found = find(event);
              if (found !== null) {
                choose(found.index);
                props.onZoom(found.index);
              }
            }}
          />
        </div>
      </div>
      {pointed !== null && (layout.depth[pointed.index] ?? -1) >= 0 && (
        <div
          className="flame-tip"
          aria-hidden
          style={{
            top: pointed.y + 22,
            ...(pointed.x > width - TIP_WIDTH ? { right: width - pointed.x + 8 } : { left: pointed.x + 12 }),
          }}
        >
          {props.tip(pointed.index)}
        </div>
      )}
      <VisuallyHidden role="status">{chosen === null ? "" : props.describe(chosen)}</VisuallyHidden>
    </div>
  );
}
