import type { StatInfo } from "../logic/api";
import { processOf, processTitle } from "../logic/process";
import { surroundings } from "../logic/range";
import type { Window } from "../logic/time";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../state/url";
import { PageLink } from "./PageLink";

interface ProcessLinkProps {
  readonly host: string;
  readonly stat: Pick<StatInfo, "instance_title"> | null;
  readonly instance: string;
  /** The window to show; without it, that of the host page on which the link is. */
  readonly at?: { readonly window: Window; readonly clock: Clock };
}

/** A link to the page of a process or command; nothing for instances of other kinds. */
export function ProcessLink({ host, stat, instance, at }: ProcessLinkProps) {
  const process = processOf(stat, instance);
  if (process === null) {
    return null;
  }
  const title = `${process.pid === null ? "Command" : "Process"} ${processTitle(process)}`;
  return (
    <PageLink
      to="/hosts/$host"
      params={{ host }}
      search={
        at === undefined
          ? (before) => ({
              ...before,
              tab: "processes",
              command: process.command,
              ...(process.pid === null ? {} : { pid: String(process.pid) }),
            })
          : encodeHostView({
              ...DEFAULT_HOST_VIEW,
              clock: at.clock,
              tab: "processes",
              process,
              range: { kind: "fixed", window: surroundings(at.window) },
              mark: at.window,
            })
      }
      fz="sm"
    >
      {title}
    </PageLink>
  );
}
