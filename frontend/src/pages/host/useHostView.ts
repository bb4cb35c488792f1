import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { keepSame } from "../../logic/same";
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
  const { view: decoded, ignored } = useMemo(() => decodeHostView(search), [search]);
  // A link is decoded into new objects. Where only the window moved, panels and looks stay the same ones, and no graph is drawn for them.
  const [{ view, of }, setKept] = useState({ view: decoded, of: decoded });
  if (of !== decoded) {
    setKept({ view: keepSame(view, decoded), of: decoded });
  }
  return {
    view,
    ignored,
    hasRange: namesRange(search),
    set: (change) => {
      void navigate({ to: "/hosts/$host", params: { host }, search: encodeHostView({ ...view, ...change }), resetScroll: false });
    },
  };
}
