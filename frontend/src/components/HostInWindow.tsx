import type { Window } from "../logic/time";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../state/url";
import { PageLink } from "./PageLink";

interface HostInWindowProps {
  readonly host: string;
  /** What its graphs show; undefined for what they show first. */
  readonly window: Window | undefined;
  readonly clock: Clock;
}

/** A host's name, as a link to its graphs in a window. */
export function HostInWindow({ host, window, clock }: HostInWindowProps) {
  const range = window === undefined ? {} : ({ range: { kind: "fixed", window } } as const);
  return (
    <PageLink to="/hosts/$host" params={{ host }} search={encodeHostView({ ...DEFAULT_HOST_VIEW, clock, ...range })}>
      {host}
    </PageLink>
  );
}
