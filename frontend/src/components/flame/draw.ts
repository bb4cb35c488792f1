import { type FlameLayout, type FlameNodes, nameAt } from "../../logic/flame";
import { fitLabel } from "../../logic/flame_svg";

export const ROW_HEIGHT = 18;
const FONT = "11px ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const LABELLED = 24;
const VISIBLE = 0.4;

export interface FlamePaint {
  readonly nodes: FlameNodes;
  readonly layout: FlameLayout;
  readonly isFlame: boolean;
  readonly colours: readonly string[];
  readonly label: (index: number) => string;
  /** For each name whether the search finds it; null without a search. */
  readonly matched: readonly boolean[] | null;
  readonly chosen: number | null;
  readonly hovered: number | null;
  readonly isDark: boolean;
}

export interface FlameWindow {
  readonly width: number;
  readonly height: number;
  readonly scrolled: number;
}

/** Return the row of the graph at a height from its top. */
export function rowAt(layout: FlameLayout, isFlame: boolean, y: number): number {
  const row = (y - (y % ROW_HEIGHT)) / ROW_HEIGHT;
  return isFlame ? layout.rows.length - 1 - row : row;
}

/** Draw the rows that are in view. */
export function drawFlame(context: CanvasRenderingContext2D, paint: FlamePaint, view: FlameWindow): void {
  const { layout } = paint;
  context.clearRect(0, 0, view.width, view.height);
  context.font = FONT;
  context.textBaseline = "middle";
  const character = context.measureText("0").width;
  layout.rows.forEach((row, depth) => {
    const y = (paint.isFlame ? layout.rows.length - 1 - depth : depth) * ROW_HEIGHT - view.scrolled;
    if (y <= -ROW_HEIGHT || y >= view.height) {
      return;
    }
    for (const index of row) {
      const width = (layout.width[index] ?? 0) * view.width;
      if (width < VISIBLE) {
        continue;
      }
      drawFrame(context, paint, index, { x: (layout.x[index] ?? 0) * view.width, y, width, character });
    }
  });
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly character: number;
}

function drawFrame(context: CanvasRenderingContext2D, paint: FlamePaint, index: number, { x, y, width, character }: Place): void {
  const { nodes } = paint;
  const isFound = paint.matched === null ? null : (paint.matched[nodes.name[index] ?? 0] ?? false);
  context.globalAlpha = isFound === false ? 0.28 : 1;
  context.fillStyle = isFound === true ? (paint.isDark ? "#d884e8" : "#cf7be0") : (paint.colours[index] ?? "#ccc");
  const inner = width > 2 ? width - 0.7 : width;
  context.fillRect(x, y, inner, ROW_HEIGHT - 1);
  context.globalAlpha = 1;
  if (index === paint.chosen || index === paint.hovered) {
    context.lineWidth = index === paint.chosen ? 2 : 1;
    context.strokeStyle = paint.isDark ? "#ffffff" : "#11151b";
    context.strokeRect(x + 1, y + 1, inner > 2 ? inner - 2 : 1, ROW_HEIGHT - 3);
  }
  if (width >= LABELLED) {
    const text = fitLabel(paint.label(index), width, character);
    context.fillStyle = isFound === false && paint.isDark ? "#b4bdc9" : "#11151b";
    context.fillText(text, x + 4, y + ROW_HEIGHT / 2);
  }
}

/** Return the first line of what a screen reader says of a frame. */
export function spokenName(nodes: FlameNodes, index: number, whole: string): string {
  return nameAt(nodes, index) === "" ? whole : nameAt(nodes, index);
}
