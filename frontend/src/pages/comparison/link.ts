import { surroundings } from "../../logic/range";
import type { Window } from "../../logic/time";
import type { RawSearch } from "../../state/search";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";

/** The host page at that time, the window marked, with a panel of this one series on top. */
export function seriesLink(
  row: { readonly stat: string; readonly instance: string; readonly field: string },
  window: Window,
  clock: Clock,
): RawSearch {
  return encodeHostView({
    ...DEFAULT_HOST_VIEW,
    clock,
    range: { kind: "fixed", window: surroundings(window) },
    mark: window,
    panels: [
      {
        stat: row.stat,
        fields: [row.field],
        choice: row.instance === "" ? { kind: "one" } : { kind: "only", names: [row.instance] },
      },
    ],
  });
}
