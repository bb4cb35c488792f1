import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { decodeHostView, encodeHostView, type HostView, namesRange } from "../../state/url";

export interface HostViewState {
  readonly view: HostView;
  readonly ignored: readonly string[];
  /** Whether the URL names the range; otherwise it is the usual one. */
  readonly hasRange: boolean;
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
    hasRange: namesRange(search),
    set: (change) => {
      void navigate({ to: "/hosts/$host", params: { host }, search: encodeHostView({ ...view, ...change }), resetScroll: false });
    },
  };
}
