import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { decodeHostView, encodeHostView, type HostView } from "../../state/url";

export interface HostViewState {
  readonly view: HostView;
  readonly ignored: readonly string[];
  /** Changes the view and the URL; the browser's Back undoes it. */
  readonly set: (change: Partial<HostView>) => void;
}

/** Return the state of the host page, which lives in the URL. */
export function useHostView(host: string): HostViewState {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const { view, ignored } = useMemo(() => decodeHostView(search), [search]);
  return {
    view,
    ignored,
    set: (change) => {
      void navigate({ to: "/hosts/$host", params: { host }, search: encodeHostView({ ...view, ...change }), resetScroll: false });
    },
  };
}
