/** Flame graphs: nodes as the server sends them, laid out in rows; where a point is; where an arrow key leads. */

import type { FlameDiffView, FlameView } from "./api";

/** The values of the two runs of a difference; `factor` is what the baseline's are multiplied with to be compared. */
export interface FlameChange {
  readonly beforeOwn: readonly number[];
  readonly beforeTotal: readonly number[];
  readonly afterOwn: readonly number[];
  readonly afterTotal: readonly number[];
  readonly factor: number;
}

/** Nodes, parents before their children, wide siblings first; node 0 is the whole or the focus. `total` is what widths are made of. */
export interface FlameNodes {
  readonly names: readonly string[];
  readonly ids: readonly number[];
  readonly parent: readonly number[];
  readonly name: readonly number[];
  readonly own: readonly number[];
  readonly total: readonly number[];
  readonly change: FlameChange | null;
}

/** What the width of a node of a difference shows: both runs, so that nothing is invisible, or one of them. */
export type FlameWidths = "both" | "before" | "after";
export type FlameOrder = "wide" | "name";

export interface FlameLayout {
  /** From 0 to 1. */
  readonly x: Float64Array;
  readonly width: Float64Array;
  /** -1 for nodes that are not shown. */
  readonly depth: Int32Array;
  /** The nodes of each row, from left to right. */
  readonly rows: readonly (readonly number[])[];
  readonly start: number;
}

export function toNodes(view: FlameView): FlameNodes {
  return {
    names: view.names,
    ids: view.name_ids,
    parent: view.parent,
    name: view.name,
    own: view.own,
    total: view.total,
    change: null,
  };
}

export function toDiffNodes(view: FlameDiffView, widths: FlameWidths): FlameNodes {
  const { factor } = view.scale;
  const mix = (before: readonly number[], after: readonly number[]): readonly number[] =>
    widths === "after"
      ? after
      : before.map((value, index) => (widths === "before" ? value * factor : (value * factor + (after[index] ?? 0)) / 2));
  return {
    names: view.names,
    ids: view.name_ids,
    parent: view.parent,
    name: view.name,
    own: mix(view.before_own, view.after_own),
    total: mix(view.before_total, view.after_total),
    change: {
      beforeOwn: view.before_own,
      beforeTotal: view.before_total,
      afterOwn: view.after_own,
      afterTotal: view.after_total,
      factor,
    },
  };
}

export function nameAt(nodes: FlameNodes, index: number): string {
  return nodes.names[nodes.name[index] ?? 0] ?? "";
}

/** Return the rows of a flame graph that begins at a node. */
export function layOut(nodes: FlameNodes, start: number, order: FlameOrder): FlameLayout {
  const n = nodes.parent.length;
  const x = new Float64Array(n);
  const width = new Float64Array(n);
  const next = new Float64Array(n);
  const depth = new Int32Array(n).fill(-1);
  const whole = nodes.total[start] ?? 0;
  const rows: number[][] = [[start]];
  width[start] = 1;
  depth[start] = 0;
  for (const index of sequenceOf(nodes, order)) {
    const parent = nodes.parent[index] ?? -1;
    const above = depth[parent] ?? -1;
    const share = whole > 0 ? (nodes.total[index] ?? 0) / whole : 0;
    if (parent < 0 || above < 0 || index === start || share <= 0) {
      continue;
    }
    depth[index] = above + 1;
    x[index] = (x[parent] ?? 0) + (next[parent] ?? 0);
    width[index] = share;
    next[parent] = (next[parent] ?? 0) + share;
    (rows[above + 1] ??= []).push(index);
  }
  for (const row of rows) {
    row.sort((left, right) => (x[left] ?? 0) - (x[right] ?? 0));
  }
  return { x, width, depth, rows, start };
}

/** Return the nodes, each after its parent, siblings in the order in which they are drawn. */
function sequenceOf(nodes: FlameNodes, order: FlameOrder): readonly number[] {
  const all = nodes.parent.map((_, index) => index);
  return order === "wide"
    ? all
    : all.sort(
        (left, right) =>
          (nodes.parent[left] ?? 0) - (nodes.parent[right] ?? 0) || (nameAt(nodes, left) < nameAt(nodes, right) ? -1 : 1),
      );
}

/** Return the node of a row at a place from 0 to 1. Missing: null beside all. */
export function nodeAt(layout: FlameLayout, row: number, place: number): number | null {
  const nodes = layout.rows[row] ?? [];
  let low = 0;
  let high = nodes.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const index = nodes[middle] ?? 0;
    const left = layout.x[index] ?? 0;
    if (place < left) {
      high = middle - 1;
    } else if (place >= left + (layout.width[index] ?? 0)) {
      low = middle + 1;
    } else {
      return index;
    }
  }
  return null;
}

export type FlameMove = "in" | "out" | "left" | "right";

/** Return where a move leads from a node: its widest child, its parent, the next one of its row. */
export function moveTo(nodes: FlameNodes, layout: FlameLayout, from: number, move: FlameMove): number {
  const depth = layout.depth[from] ?? 0;
  if (move === "out") {
    return from === layout.start ? from : (nodes.parent[from] ?? from);
  }
  if (move === "in") {
    const children = (layout.rows[depth + 1] ?? []).filter((index) => nodes.parent[index] === from);
    return children.sort((left, right) => (layout.width[right] ?? 0) - (layout.width[left] ?? 0))[0] ?? from;
  }
  const row = layout.rows[depth] ?? [];
  return row[row.indexOf(from) + (move === "left" ? -1 : 1)] ?? from;
}

/** Return the ids of names from below node 0 down to a node. */
export function pathTo(nodes: FlameNodes, index: number): readonly number[] {
  const path: number[] = [];
  for (let at = index; at > 0; at = nodes.parent[at] ?? 0) {
    path.push(nodes.ids[nodes.name[at] ?? 0] ?? 0);
  }
  return path.reverse();
}

/** Return the node at the end of a path of ids. Missing: null where it is not among the nodes. */
export function nodeOfPath(nodes: FlameNodes, path: readonly number[]): number | null {
  let at = 0;
  for (const id of path) {
    const below = nodes.parent.findIndex((parent, index) => parent === at && nodes.ids[nodes.name[index] ?? 0] === id);
    if (below < 0) {
      return null;
    }
    at = below;
  }
  return at;
}

/**
 * Return where to begin to draw the nodes of `have`, a path, so that they show those of `want`: the node itself as long as the server's
 * finer answer is under way.
 */
export function startOf(nodes: FlameNodes, have: readonly number[], want: readonly number[]): number {
  const isBelow = have.every((id, index) => want[index] === id);
  return isBelow ? (nodeOfPath(nodes, want.slice(have.length)) ?? 0) : 0;
}

/** Return the callers of a node, the next one first, at most `most`. */
export function callersOf(nodes: FlameNodes, index: number, most: number): readonly string[] {
  const found: string[] = [];
  for (let at = nodes.parent[index] ?? -1; at > 0 && found.length < most; at = nodes.parent[at] ?? -1) {
    found.push(nameAt(nodes, at));
  }
  return found;
}

/** Return for each name whether a search finds it: one of the words between `|`, in any case, as the server does. */
export function matchNames(names: readonly string[], search: string): readonly boolean[] | null {
  const sought = search
    .toLowerCase()
    .split("|")
    .map((word) => word.trim())
    .filter((word) => word !== "");
  return sought.length === 0 ? null : names.map((name) => sought.some((word) => name.toLowerCase().includes(word)));
}

/** Return the after value of a node less its scaled before value, of what ends in it or passes through it. */
export function changeOf(
  { beforeOwn, beforeTotal, afterOwn, afterTotal, factor }: FlameChange,
  index: number,
  isOwn: boolean,
): number {
  const [before, after] = isOwn ? [beforeOwn, afterOwn] : [beforeTotal, afterTotal];
  return (after[index] ?? 0) - (before[index] ?? 0) * factor;
}

/** Return the largest change of all nodes, more or less. */
export function largestChange(nodes: FlameNodes, isOwn: boolean): number {
  const { change } = nodes;
  let most = 0;
  if (change !== null) {
    for (let index = 0; index < nodes.parent.length; index += 1) {
      most = Math.max(most, Math.abs(changeOf(change, index, isOwn)));
    }
  }
  return most;
}

/** Return a breadcrumb: all steps, or the first and the last ones with null for those between. */
export function shortenPath<T>(steps: readonly T[], most: number): readonly (T | null)[] {
  return steps.length <= most ? steps : [...steps.slice(0, 1), null, ...steps.slice(steps.length - most + 1)];
}

/** Return a share of a whole. Missing: null of nothing. */
export function shareOf(value: number, whole: number): number | null {
  return whole > 0 ? value / whole : null;
}
