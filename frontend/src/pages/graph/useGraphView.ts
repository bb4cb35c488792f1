import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { HostInfo } from "../../logic/api";
import { firstGraph } from "../../logic/first_graph";
import { decodeGraphView, encodeGraphView, type GraphView } from "../../state/graph";

export interface GraphViewState {
  readonly view: GraphView;
  readonly ignored: readonly string[];
  /** Changes the view and the URL; the browser's Back undoes it. */
  readonly set: (change: Partial<GraphView>) => void;
}

/** Return the state of the page, which lives in the URL. An address without hosts shows those of `hosts` that send now. */
export function useGraphView(hosts: readonly HostInfo[]): GraphViewState {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  // A user who removes the last host wants to choose another, not the first ones again.
  const [isCleared, setIsCleared] = useState(false);
  const { view: named, ignored } = useMemo(() => decodeGraphView(search), [search]);
  const namesNone = named.hosts.length === 0 && named.group === null && named.tag === null && named.runs.length === 0;
  const first = useMemo(
    () => (namesNone && !isCleared ? firstGraph(hosts, named.range) : null),
    [namesNone, isCleared, hosts, named.range],
  );
  const view = useMemo(() => (first === null ? named : { ...named, ...first }), [named, first]);
  return {
    view,
    ignored,
    set: (change) => {
      if (change.hosts !== undefined) {
        setIsCleared(change.hosts.length === 0);
      }
      // A group or a tag that is chosen replaces the first hosts.
      const before = change.group === undefined && change.tag === undefined ? view : named;
      void navigate({ to: "/graph", search: encodeGraphView({ ...before, ...change }), resetScroll: false });
    },
  };
}
