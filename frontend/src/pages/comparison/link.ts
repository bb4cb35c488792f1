import type { Circumstance, FindingGroup, StatInfo, StoryProcess } from "../../logic/api";
import { processOf } from "../../logic/process";
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

/**
 * The page of a process: of its PID where there was one, else of its command. Threads, users and other things without a page of
 * their own: the host's graphs of the fields that changed, strongest first.
 */
export function processLink(
  { stat, instance, pids }: Pick<StoryProcess, "stat" | "instance" | "pids">,
  known: Pick<StatInfo, "instance_title"> | null,
  fields: readonly string[],
  { window, clock }: Place,
): RawSearch {
  const common = { ...DEFAULT_HOST_VIEW, clock, range: { kind: "fixed", window: surroundings(window) }, mark: window } as const;
  const process = processOf(known, instance);
  if (process !== null) {
    const pid = process.pid ?? (pids.length === 1 ? (pids[0] ?? null) : null);
    return encodeHostView({ ...common, tab: "processes", process: { command: process.command, pid } });
  }
  return encodeHostView({
    ...common,
    panels: fields
      .slice(0, MAX_PANELS)
      .map((field) => ({
        stat,
        fields: [field],
        choice: instance === "" ? { kind: "one" } : { kind: "only", names: [instance] },
      })),
  });
}

/** Where a circumstance is shown: the command of an observer, the stream of a loss, the graphs around an event or a silence. */
export function circumstanceLink({ kind, command, stream_id }: Circumstance, { window, clock }: Place): RawSearch {
  const common = { ...DEFAULT_HOST_VIEW, clock, range: { kind: "fixed", window: surroundings(window) }, mark: window } as const;
  if (command != null) {
    return encodeHostView({ ...common, tab: "processes", process: { command, pid: null } });
  }
  if (stream_id != null) {
    return encodeHostView({ ...common, tab: kind === "rejected_lines" ? "rejected" : "streams", streamId: stream_id });
  }
  return encodeHostView(common);
}
