/** Flame graphs of stacks, and their functions. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { FlameView as FlameState } from "../state/flame";
import { api } from "./client";

export interface StackReference {
  readonly artefact: number;
  readonly part: number;
}

// A part does not change while it is looked at.
const KEPT_MS = 600_000;
// Narrower than half a pixel of a wide screen.
const MIN_SHARE = 0.000_2;
const MAX_NODES = 10_000;

function common(view: FlameState) {
  return {
    column: view.column,
    threads: view.threads,
    ...(view.thread === null ? {} : { thread: view.thread }),
    search: view.search,
  };
}

function growth(view: FlameState, direction: FlameState["direction"]) {
  return {
    ...common(view),
    direction,
    focus: view.focus.join("."),
    ...(view.called === null ? {} : { function: view.called }),
    min_share: MIN_SHARE,
    max_nodes: MAX_NODES,
  };
}

export function flameQuery({ artefact, part }: StackReference, view: FlameState, direction: FlameState["direction"]) {
  const query = growth(view, direction);
  return queryOptions({
    queryKey: ["flame", artefact, part, query],
    queryFn: ({ signal }) =>
      api.GET("/artefacts/{id}/parts/{part}/flame", { params: { path: { id: artefact, part }, query }, signal }),
    placeholderData: keepPreviousData,
    staleTime: KEPT_MS,
  });
}

export function functionsQuery({ artefact, part }: StackReference, view: FlameState, limit: number) {
  const query = { ...common(view), order: view.byTotal ? ("total" as const) : ("own" as const), limit };
  return queryOptions({
    queryKey: ["flame functions", artefact, part, query],
    queryFn: ({ signal }) =>
      api.GET("/artefacts/{id}/parts/{part}/functions", { params: { path: { id: artefact, part }, query }, signal }),
    placeholderData: keepPreviousData,
    staleTime: KEPT_MS,
  });
}

function sides(before: StackReference, after: StackReference, view: FlameState) {
  const of = ({ artefact, part }: StackReference) => `${String(artefact)}:${String(part)}`;
  return { before: of(before), after: of(after), ...(view.scaling === null ? {} : { scaling: view.scaling }) };
}

export function flameDiffQuery(
  before: StackReference,
  after: StackReference,
  view: FlameState,
  direction: FlameState["direction"],
) {
  const query = { ...sides(before, after, view), ...growth(view, direction) };
  return queryOptions({
    queryKey: ["flame diff", query],
    queryFn: ({ signal }) => api.GET("/artefacts/diff/flame", { params: { query }, signal }),
    placeholderData: keepPreviousData,
    staleTime: KEPT_MS,
  });
}

export function functionsDiffQuery(before: StackReference, after: StackReference, view: FlameState, limit: number) {
  const query = {
    ...sides(before, after, view),
    ...common(view),
    order: view.byTotal ? ("total" as const) : ("own" as const),
    limit,
  };
  return queryOptions({
    queryKey: ["flame diff functions", query],
    queryFn: ({ signal }) => api.GET("/artefacts/diff/functions", { params: { query }, signal }),
    placeholderData: keepPreviousData,
    staleTime: KEPT_MS,
  });
}
