import type { FindingGroup, StoryProcess } from "../../logic/api";
import { surroundings } from "../../logic/range";
import type { Window } from "../../logic/time";
import type { RawSearch } from "../../state/search";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";

interface Series {
  readonly stat: string;
  readonly field: string;
}

// A panel with more lines shows nothing.
const MAX_LINES = 6;

/** The window, the clock, and the baseline whose band is drawn. */
export interface Place {
  readonly window: Window;
  readonly clock: Clock;
  readonly bandId: number | null;
}

function panelLink({ stat, field }: Series, instances: readonly string[], { window, clock, bandId }: Place): RawSearch {
  return encodeHostView({
    ...DEFAULT_HOST_VIEW,
    clock,
    range: { kind: "fixed", window: surroundings(window) },
    mark: window,
    bandId,
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
export function seriesLink(row: Series & { readonly instance: string }, place: Place): RawSearch {
  return panelLink(row, [row.instance], place);
}

/** The same for the strongest instances of a group. */
export function groupLink(group: FindingGroup, place: Place): RawSearch {
  return panelLink(group, group.instances.slice(0, MAX_LINES), place);
}

// More panels would hide the first.
const MAX_PANELS = 4;

/** The host's graphs of one process: the fields that changed, strongest first. The only place that knows where a process is shown. */
export function processLink(
  { stat, instance }: Pick<StoryProcess, "stat" | "instance">,
  fields: readonly string[],
  { window, clock }: Place,
): RawSearch {
  return encodeHostView({
    ...DEFAULT_HOST_VIEW,
    clock,
    range: { kind: "fixed", window: surroundings(window) },
    mark: window,
    panels: fields
      .slice(0, MAX_PANELS)
      .map((field) => ({
        stat,
        fields: [field],
        choice: instance === "" ? { kind: "one" } : { kind: "only", names: [instance] },
      })),
  });
}
