import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { decodeHostView, encodeHostView, type HostView } from "../../state/url";

export interface HostViewState {
  readonly view: HostView;
  readonly ignored: readonly string[];
  /** Changes the view and with it the address; the browser's back undoes it. */
  readonly set: (change: Partial<HostView>) => void;
}

/** The host page's state, which is the address. */
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
