import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { decodeGraphView, encodeGraphView, type GraphView } from "../../state/graph";

export interface GraphViewState {
  readonly view: GraphView;
  readonly ignored: readonly string[];
  /** Changes the view and the URL; the browser's Back undoes it. */
  readonly set: (change: Partial<GraphView>) => void;
}

/** Return the state of the page, which lives in the URL. */
export function useGraphView(): GraphViewState {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const { view, ignored } = useMemo(() => decodeGraphView(search), [search]);
  return {
    view,
    ignored,
    set: (change) => {
      void navigate({ to: "/graph", search: encodeGraphView({ ...view, ...change }), resetScroll: false });
    },
  };
}
