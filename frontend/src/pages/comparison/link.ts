import type { Group } from "../../logic/comparison_types";
import { surroundings } from "../../logic/range";
import type { Window } from "../../logic/time";
import type { RawSearch } from "../../state/search";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";

interface Series {
  readonly stat: string;
  readonly field: string;
}

// A panel with more lines shows nothing.
const MOST_LINES = 6;

function panelLink({ stat, field }: Series, instances: readonly string[], window: Window, clock: Clock): RawSearch {
  return encodeHostView({
    ...DEFAULT_HOST_VIEW,
    clock,
    range: { kind: "fixed", window: surroundings(window) },
    mark: window,
    panels: [
      {
        stat,
        fields: [field],
        choice: instances.every((name) => name === "") ? { kind: "one" } : { kind: "only", names: instances },
      },
    ],
  });
}

/** The host page at that time, the window marked, with a panel of this one series on top. */
export function seriesLink(row: Series & { readonly instance: string }, window: Window, clock: Clock): RawSearch {
  return panelLink(row, [row.instance], window, clock);
}

/** The same with the strongest instances of a group. */
export function groupLink(group: Group, window: Window, clock: Clock): RawSearch {
  return panelLink(group, group.instances.slice(0, MOST_LINES), window, clock);
}
